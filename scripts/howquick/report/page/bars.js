// A metric per arm as bars with intervals.
'use strict';

const BAR = 15;
const BAR_COLOUR = 'var(--lower)';
// Room between the bars of two arms, in bars.
const BAR_GAP = 0.45;

/**
 * What tells the cells of a figure apart: the panel, or the bar within the panel (R/figures/kinds/bars.R).
 * @param {Study} study
 * @param {Figure} figure
 * @param {Cell[]} cells
 */
function barGroups(study, figure, cells) {
  const facet = listOf(figure.facet);
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
  const all = groups.flatMap((group) => arms.flatMap((arm) => {
    const row = medians.get(`${group.cell.name} ${arm}`);
    return row ? [{ ...group, arm, row }] : [];
  }));
  const drawn = all.filter(({ row }) => finite(row.median));
  if (!drawn.length) return absent(study);
  const bars = [...new Set(groups.map(({ bar }) => bar))];
  const missing = all.filter(({ row }) => row.median === 'Inf').map(({ arm, cell }) => `${armLabel(study, arm)} in ${cell.name}`);
  const list = [...Map.groupBy(drawn, ({ panel }) => panel)].map(([title, some]) => ({ title, content: barPlot(study, some, bars, arms, metric) }));
  const costly = drawn.some(({ cell, arm }) => isCostly(summaryOf(study).get(`${cell.name} ${arm}`)));
  return h('div', {}, bars.length > 1 ? legend(bars.map((label, index) => ({ label, colour: BAR_COLOUR, opacity: barOpacity(index, bars.length), edge: true }))) : null,
    panels(list),
    missing.length ? h('p', { class: 'quiet' }, `No bar, half of the loads or more did not finish: ${missing.join('; ')}.`) : null,
    costly ? h('p', { class: 'quiet' }, `Processor time that virtual time leaves out, ${COSTLY_KEY}`) : null);
}

/**
 * From the darkest to the lightest.
 * @param {number} index
 * @param {number} count
 */
function barOpacity(index, count) {
  return count > 1 ? 1 - (0.85 * index) / (count - 1) : 0.75;
}

/**
 * Bars from the top: those of an arm together.
 * @param {BarRow[]} some
 * @param {string[]} bars
 * @param {string[]} arms
 * @param {number} top of the axis
 */
function placedBars(some, bars, arms, top) {
  let place = -1;
  let last = '';
  return arms.flatMap((arm) => bars.flatMap((bar, index) => some.filter((one) => one.arm === arm && one.bar === bar).map((one) => {
    const first = arm !== last;
    place += first && last ? 1 + BAR_GAP : 1;
    last = arm;
    // Where the interval has no end, it goes on to that of the axis.
    const high = Math.min(amount(one.row.high), top);
    return { ...one, first, place, opacity: barOpacity(index, bars.length), high, end: Number.isFinite(high) ? Math.max(high, one.row.median) : one.row.median };
  })));
}

/**
 * Bars with their intervals and numbers, which lead to their cells.
 * @param {Study} study
 * @param {BarRow[]} some
 * @param {string[]} bars
 * @param {string[]} arms
 * @param {Metric} metric
 */
function barPlot(study, some, bars, arms, metric) {
  const width = panelWidth(2, 420);
  const top = 1.18 * Math.max(...some.map(({ row }) => Math.max(row.median, finite(row.high) ? row.high : row.median)), 0) || 1;
  const rows = placedBars(some, bars, arms, top);
  const last = rows[rows.length - 1].place;
  const firsts = rows.filter(({ first }) => first);
  const known = rows.filter(({ row, high }) => finite(row.low) && Number.isFinite(high));
  const names = (/** @type {BarRow} */ { cell, arm, bar }) => ({ 'data-cell': cell.name, 'data-arm': arm, 'data-bar': bar });
  const link = (/** @type {BarRow} */ one) => {
    const { arm, bar, cell, row } = one;
    const title = `${armLabel(study, arm)}${bar ? `, ${bar}` : ''}: ${short(row.median)} ${metric.unit || ''}${finite(row.low) ? ` (${short(row.low)} to ${short(row.high)})` : ''}, n = ${row.n}`;
    return { href: routeTo([study.study, cell.name]), title, ...names(one), 'data-value': row.median, 'data-low': row.low, 'data-high': row.high };
  };
  const mine = (/** @type {BarRow} */ { cell, arm }) => (isCostly(summaryOf(study).get(`${cell.name} ${arm}`)) ? ` ${COSTLY}` : '');
  const caps = known.flatMap((one) => [{ ...one, x: one.row.low }, ...(one.row.high === 'Inf' ? [] : [{ ...one, x: one.high }])]);
  const [above, below] = [(/** @type {number} */ by) => (/** @type {{ place: number }} */ { place }) => place - by, (/** @type {number} */ by) => (/** @type {{ place: number }} */ { place }) => place + by];
  return chart({
    label: `${metric.label} by arm`, width, height: (last + 1) * BAR + 54, left: Math.min(210, width * 0.4), x: { domain: [0, top], label: withUnit(metric) },
    y: { ...rowAxis(firsts.map(({ place }) => place), firsts.map(({ arm }) => armLabel(study, arm)), [last + 0.6, -0.6]), bare: true },
    marks: [
      Plot.rect(rows, { x1: () => 0, x2: ({ row }) => row.median, y1: above(0.4), y2: below(0.4), fillOpacity: 'opacity', className: 'bar-shape', ...told(rows, link) }),
      Plot.ruleY(known, { x1: ({ row }) => row.low, x2: 'high', y: 'place', className: 'error interval-of-bar', ...told(known, names) }),
      Plot.ruleX(caps, { x: 'x', y1: above(0.27), y2: below(0.27), className: 'error' }),
      Plot.text(rows, { x: 'end', y: 'place', text: (one) => `${short(one.row.median)}${mine(one)}`, dx: 5, textAnchor: 'start', className: 'end' }),
    ],
  });
}
