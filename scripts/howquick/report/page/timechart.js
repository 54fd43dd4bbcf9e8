// Long series by uPlot: lines over time that hold their value until the next point, several drawings with one axis.
'use strict';

/** The drawings of the page that is shown: they listen to the window until they are taken away. */
let timeCharts = /** @type {any[]} */ ([]);

// Drawings follow the theme, whoever changes it.
const redrawCharts = () => timeCharts.forEach((one) => one.redraw());
new MutationObserver(redrawCharts).observe(document.documentElement, { attributeFilter: ['data-theme'] });
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redrawCharts);

/** @param {string} name of a colour of style.css */
function themeColour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

/**
 * Own lines are solid, or dashed where a second source tells the same; those of the load beside are dotted.
 * @param {Line} line
 */
function lineDash({ beside, dashed }) {
  return beside ? [2, 3] : dashed ? [7, 4] : [];
}

/**
 * Points by their times: of several at one time the last, which holds.
 * @param {Line[]} lines
 */
function aligned(lines) {
  const tables = lines.map(({ points }) => {
    const values = new Map(points.map(([time, value]) => [time, value]));
    const times = [...values.keys()].sort((a, b) => a - b);
    return [times, times.map((time) => values.get(time))];
  });
  return uPlot.join(tables);
}

/** @returns {any} no line: what is lost is a point */
function noPath() {
  return null;
}

/**
 * @param {Line} line
 */
function seriesOf(line) {
  const lost = line.name === 'lost';
  return {
    label: line.label, stroke: line.colour, width: 1.8, dash: lineDash(line), spanGaps: true, value: (/** @type {any} */ _, /** @type {any} */ value) => short(value),
    paths: lost ? noPath : uPlot.paths.stepped({ align: 1 }),
    points: lost ? { show: true, size: line.beside ? 6 : 8, fill: line.beside ? themeColour('card') : line.colour } : { show: false },
  };
}

/**
 * Drawings over the same seconds, from 0 to `end`: what one shows of them all show.
 * @param {number} end
 */
function timeGroup(end) {
  timeCharts.forEach((one) => one.destroy());
  /** @type {any[]} */
  const charts = [];
  timeCharts = charts;
  const show = (/** @type {number} */ from, /** @type {number} */ to) => charts.forEach((one) => one.setScale('x', { min: from, max: to }));
  const shown = () => (charts.length ? [charts[0].scales.x.min, charts[0].scales.x.max] : [0, end]);
  /** Move by a share of what is shown, or take a part of it; never beyond what there is. */
  const move = (/** @type {number} */ by, /** @type {number} */ part) => {
    const [from, to] = shown();
    const width = Math.min((to - from) * part, end);
    const middle = (from + to) / 2 + by * (to - from);
    const begin = Math.min(Math.max(middle - width / 2, 0), end - width);
    show(begin, begin + width);
  };
  const button = (/** @type {string} */ text, /** @type {() => void} */ onclick) => h('button', { type: 'button', onclick }, text);
  const controls = h('div', { class: 'controls time-controls', role: 'group', 'aria-label': 'what of the time is shown' },
    button('closer', () => move(0, 0.5)), button('farther', () => move(0, 2)), button('← earlier', () => move(-0.5, 1)), button('later →', () => move(0.5, 1)), button('all of the time', () => show(0, end)),
    h('span', { class: 'quiet' }, 'Drag over a drawing to see a part of it; twice a click shows all.'));
  const chart = (/** @type {Line[]} */ lines, /** @type {{ unit: string, height: number, label: string }} */ given) => timeChart(lines, { ...given, end, charts, show });
  return { controls, chart };
}

/**
 * @param {Line[]} lines
 * @param {{ unit: string, height: number, label: string, end: number, charts: any[], show: (from: number, to: number) => void }} given
 */
function timeChart(lines, { unit, height, label, end, charts, show }) {
  const place = h('div', { class: 'time-chart', role: 'img', 'aria-label': `${label}: ${lines.map((line) => line.label).join(', ')}` });
  const axis = { stroke: () => themeColour('quiet'), grid: { stroke: () => themeColour('rule'), width: 1 }, ticks: { stroke: () => themeColour('rule'), width: 1 }, font: '11.5px system-ui', labelFont: '12px system-ui', labelSize: 18, labelGap: 0 };
  const one = new uPlot({
    width: room(), height,
    scales: { x: { time: false, range: (/** @type {any} */ _, /** @type {number} */ from, /** @type {number} */ to) => [from, to] }, y: { range: (/** @type {any} */ _, /** @type {number} */ __, /** @type {number} */ to) => [0, 1.04 * (to || 1)] } },
    axes: [{ ...axis, label: 'seconds since the first packet', size: 34 }, { ...axis, label: unit, size: 58, values: (/** @type {any} */ _, /** @type {number[]} */ ticks) => ticks.map((tick) => tickText(tick, { domain: ticks })) }],
    series: [{ label: 'seconds', value: (/** @type {any} */ _, /** @type {any} */ value) => short(value) }, ...lines.map(seriesOf)],
    cursor: { sync: { key: 'over-time', setSeries: false }, drag: { x: true, y: false, setScale: false } },
    legend: { markers: { width: 2, dash: (/** @type {any} */ _, /** @type {number} */ at) => (lines[at - 1].beside ? 'dotted' : lines[at - 1].dashed ? 'dashed' : 'solid') } },
    hooks: {
      setSelect: [(/** @type {any} */ self) => {
        if (self.select.width > 4) show(self.posToVal(self.select.left, 'x'), self.posToVal(self.select.left + self.select.width, 'x'));
        self.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
      }],
      ready: [(/** @type {any} */ self) => self.over.addEventListener('dblclick', () => show(0, end))],
    },
  }, aligned(lines), place);
  one.lines = lines;
  one.setScale('x', { min: 0, max: end });
  charts.push(one);
  return place;
}
