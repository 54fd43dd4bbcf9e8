// Long series by uPlot: lines over time that hold their value until the next point, several drawings with one axis.
'use strict';

const { uPlot: TimePlot } = libraries;

/** The drawings of the page that is shown: they listen to the window until they are taken away. */
let timeCharts = /** @type {TimeChart[]} */ ([]);

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

// Each value holds until the next.
const STEPPED = TimePlot.paths.stepped?.({ align: 1 });

/**
 * Points by their times: of several at one time the last, which holds.
 * @param {Line[]} lines
 */
function aligned(lines) {
  const tables = lines.map(({ points }) => {
    const values = new Map(points.map(([time, value]) => [time, value]));
    const times = [...values.keys()].sort((a, b) => a - b);
    return /** @type {AlignedData} */ ([times, times.map((time) => values.get(time))]);
  });
  return TimePlot.join(tables);
}

/** No line: what is lost is a point. */
function noPath() {
  return null;
}

/**
 * @param {Line} line
 * @returns {TimeSeries}
 */
function seriesOf(line) {
  const lost = line.name === 'lost';
  return {
    label: line.label, stroke: line.colour, width: 1.8, dash: lineDash(line), spanGaps: true, value: (_, value) => short(value),
    paths: lost ? noPath : STEPPED,
    points: lost ? { show: true, size: line.beside ? 6 : 8, fill: line.beside ? themeColour('card') : line.colour } : { show: false },
  };
}

/**
 * Drawings over the same seconds, from 0 to `end`: what one shows of them all show.
 * @param {number} end
 */
function timeGroup(end) {
  timeCharts.forEach((one) => one.destroy());
  /** @type {TimeChart[]} */
  const charts = [];
  timeCharts = charts;
  const show = (/** @type {number} */ from, /** @type {number} */ to) => charts.forEach((one) => one.setScale('x', { min: from, max: to }));
  const shown = () => (charts.length ? pair(charts[0].scales.x.min ?? 0, charts[0].scales.x.max ?? end) : pair(0, end));
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
 * @param {{ unit: string, height: number, label: string, end: number, charts: TimeChart[], show: (from: number, to: number) => void }} given
 */
function timeChart(lines, { unit, height, label, end, charts, show }) {
  const place = h('div', { class: 'time-chart', role: 'img', 'aria-label': `${label}: ${lines.map((line) => line.label).join(', ')}` });
  const axis = { stroke: () => themeColour('quiet'), grid: { stroke: () => themeColour('rule'), width: 1 }, ticks: { stroke: () => themeColour('rule'), width: 1 }, font: '11.5px system-ui', labelFont: '12px system-ui', labelSize: 18, labelGap: 0 };
  const one = Object.assign(new TimePlot({
    width: room(), height,
    scales: { x: { time: false, range: (_, from, to) => [from, to] }, y: { range: (_, __, to) => [0, 1.04 * (to || 1)] } },
    axes: [{ ...axis, label: 'seconds since the first packet', size: 34 }, { ...axis, label: unit, size: 58, values: (_, ticks) => ticks.map((tick) => tickText(tick)) }],
    series: [{ label: 'seconds', value: (_, value) => short(value) }, ...lines.map(seriesOf)],
    cursor: { sync: { key: 'over-time', setSeries: false }, drag: { x: true, y: false, setScale: false } },
    legend: { markers: { width: 2, dash: (_, at) => (lines[at - 1].beside ? 'dotted' : lines[at - 1].dashed ? 'dashed' : 'solid') } },
    hooks: {
      setSelect: [(self) => {
        if (self.select.width > 4) show(self.posToVal(self.select.left, 'x'), self.posToVal(self.select.left + self.select.width, 'x'));
        self.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
      }],
      ready: [(self) => self.over.addEventListener('dblclick', () => show(0, end))],
    },
  }, aligned(lines), place), { lines });
  one.setScale('x', { min: 0, max: end });
  charts.push(one);
  return place;
}
