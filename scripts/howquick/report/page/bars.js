// A metric per arm as bars with intervals.
'use strict';

const BAR = 15;

/**
 * What tells the cells of a figure apart: the panel, or the bar within the panel (R/figures/kinds/bars.R).
 * @param {Study} study
 * @param {Figure} figure
 * @param {Cell[]} cells
 */
function barGroups(study, figure, cells) {
  const facet = [].concat(figure.facet || []);
  const names = varying(study, cells);
  const title = (/** @type {Cell} */ cell, /** @type {string[]} */ some) => (some.length ? cellTitle(study, cell.name, some) : '');
  if (!figure.x) return cells.map((cell) => ({ cell, panel: title(cell, facet.length ? facet : names), bar: '' }));
  const beside = study.factors.map((factor) => factor.name).filter((name) => name === figure.x || (names.includes(name) && !facet.includes(name)));
  return cells.map((cell) => ({ cell, panel: title(cell, facet), bar: title(cell, beside) }));
}

/**
 * @param {Study} study
 * @param {Figure} figure
 */
function barsFigure(study, figure) {
  const metric = metricOf(study, figure);
  const arms = figureArms(study, figure);
  const medians = figureMedians(study, figure);
  const groups = barGroups(study, figure, selected(study, figure.cells));
  const all = groups.flatMap((group) => arms.map((arm) => ({ ...group, arm, row: medians.get(`${group.cell.name} ${arm}`) })).filter(({ row }) => row));
  const drawn = all.filter(({ row }) => finite(row.median));
  if (!drawn.length) return absent(study);
  const bars = [...new Set(groups.map(({ bar }) => bar))];
  const missing = all.filter(({ row }) => row.median === 'Inf').map(({ arm, cell }) => `${armLabel(study, arm)} in ${cell.name}`);
  const list = [...Map.groupBy(drawn, ({ panel }) => panel)].map(([title, some]) => ({ title, content: barPlot(study, some, bars, arms, metric) }));
  const costly = drawn.some(({ cell, arm }) => isCostly(summaryOf(study).get(`${cell.name} ${arm}`)));
  return h('div', {}, bars.length > 1 ? h('ul', { class: 'legend' }, bars.map((bar, index) => h('li', {}, s('svg', { width: 14, height: 14, 'aria-hidden': 'true' }, barShape(index, bars.length, { x: 1, y: 2, width: 12, height: 10 })), bar))) : null,
    panels(list),
    missing.length ? h('p', { class: 'quiet' }, `No bar, half of the loads or more did not finish: ${missing.join('; ')}.`) : null,
    costly ? h('p', { class: 'quiet' }, `Processor time that virtual time leaves out, ${COSTLY_KEY}`) : null);
}

/**
 * From the darkest to the lightest.
 * @param {number} index
 * @param {number} count
 * @param {Properties} place
 */
function barShape(index, count, place) {
  return s('rect', { class: 'bar-shape', 'fill-opacity': count > 1 ? (1 - (0.85 * index) / (count - 1)).toFixed(2) : 0.75, ...place });
}

/**
 * @param {Study} study
 * @param {{ cell: Cell, bar: string, arm: string, row: Row }[]} some
 * @param {string[]} bars
 * @param {string[]} arms
 * @param {Metric} metric
 */
function barPlot(study, some, bars, arms, metric) {
  const width = panelWidth(2, 420);
  const left = Math.min(210, width * 0.4);
  const lines = arms.flatMap((arm) => bars.map((bar, index) => ({ arm, index, of: some.filter((one) => one.arm === arm && one.bar === bar) }))).filter(({ of }) => of.length);
  const ends = some.map(({ row }) => Math.max(row.median, finite(row.high) ? row.high : row.median));
  const top = 1.18 * Math.max(...ends, 0) || 1;
  const step = (/** @type {number} */ at) => (at > 0 && lines[at].arm !== lines[at - 1].arm ? 7 : 0);
  const height = lines.reduce((sum, line, at) => sum + line.of.length * BAR + step(at), 8) + 40;
  const X = scale([0, top], [left, width - 14], { ticks: Math.max(2, Math.floor((width - left) / 90)) });
  const svg = s('svg', { viewBox: `0 0 ${width} ${height}`, width, height, class: 'plot', role: 'img', 'aria-label': `${metric.label} by arm` });
  for (const tick of X.ticks) svg.append(s('line', { class: 'gridline', x1: X(tick), x2: X(tick), y1: 0, y2: height - 36 }), s('text', { x: X(tick), y: height - 22, 'text-anchor': 'middle' }, tickText(tick, { domain: [0, top] })));
  svg.append(s('text', { class: 'axis-label', x: (left + width) / 2, y: height - 5, 'text-anchor': 'middle' }, withUnit(metric)));
  let y = 6;
  const letters = Math.floor(left / 7.4);
  lines.forEach(({ arm, index, of }, at) => {
    y += step(at);
    if (at === 0 || step(at)) {
      const label = armLabel(study, arm);
      svg.append(s('text', { class: 'row-label', x: left - 8, y: y + BAR - 4, 'text-anchor': 'end' }, s('title', {}, label), label.length > letters ? `${label.slice(0, letters - 1)}…` : label));
    }
    for (const { cell, bar, row } of of) {
      svg.append(barOf(study, X, y, { cell, bar, arm, row, index, count: bars.length, metric, top }));
      y += BAR;
    }
  });
  return svg;
}

/**
 * A bar with its interval and its number, which leads to its cell.
 * @param {Study} study
 * @param {Scale} X
 * @param {number} y
 * @param {{ cell: Cell, bar: string, arm: string, row: Row, index: number, count: number, metric: Metric, top: number }} given
 */
function barOf(study, X, y, { cell, bar, arm, row, index, count, metric, top }) {
  const high = Math.min(amount(row.high), top);
  const end = Number.isFinite(high) ? Math.max(high, row.median) : row.median;
  const title = `${armLabel(study, arm)}${bar ? `, ${bar}` : ''}: ${short(row.median)} ${metric.unit || ''}${finite(row.low) ? ` (${short(row.low)} to ${short(row.high)})` : ''}, n = ${row.n}`;
  const mine = isCostly(summaryOf(study).get(`${cell.name} ${arm}`)) ? ` ${COSTLY}` : '';
  const group = s('a', { href: routeTo([study.study, cell.name]), 'aria-label': title, 'data-cell': cell.name, 'data-arm': arm, 'data-bar': bar, 'data-value': row.median, 'data-low': row.low, 'data-high': row.high },
    s('title', {}, title), barShape(index, count, { x: X(0), y: y + 1, width: Math.max(X(row.median) - X(0), 0.5), height: BAR - 3 }));
  if (finite(row.low) && Number.isFinite(high)) {
    const middle = y + BAR / 2 - 0.5;
    const cap = (/** @type {number} */ value) => s('line', { class: 'error', x1: X(value), x2: X(value), y1: middle - 4, y2: middle + 4 });
    group.append(s('line', { class: 'error', x1: X(row.low), x2: X(high), y1: middle, y2: middle }), cap(row.low), row.high === 'Inf' ? '' : cap(high));
  }
  group.append(s('text', { class: 'end', x: X(end) + 5, y: y + BAR - 4 }, `${short(row.median)}${mine}`));
  return group;
}
