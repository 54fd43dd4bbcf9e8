// A metric against a factor: one line per arm, with intervals.
'use strict';

/**
 * @param {Factor} factor
 * @param {Cell} cell
 */
function position(factor, cell) {
  const value = cell.values[factor.name];
  return typeof value === 'number' ? value : factor.levels.findIndex((level) => level.name === cell.levels[factor.name]);
}

/**
 * The factors that tell panels apart: those that vary, but for what the axis decides.
 * @param {Study} study
 * @param {Figure} figure
 * @param {Cell[]} cells
 * @param {Factor} factor of the axis
 */
function curveFacets(study, figure, cells, factor) {
  if (figure.facet) return listOf(figure.facet);
  const places = Map.groupBy(cells, (cell) => cell.levels[factor.name]);
  const free = (/** @type {string} */ name) => [...places.values()].some((some) => new Set(some.map((cell) => cell.levels[name])).size > 1);
  return varying(study, cells).filter((name) => name !== factor.name && free(name));
}

/**
 * @param {Study} study
 * @param {Figure} figure
 */
function curvesFigure(study, figure) {
  const metric = metricOf(study, figure);
  const arms = figureArms(study, figure);
  const medians = figureMedians(study, figure);
  const rowOf = (/** @type {Cell} */ cell, /** @type {string} */ arm) => medians.get(`${cell.name} ${arm}`);
  const known = (/** @type {Row | undefined} */ row) => row !== undefined && !Number.isNaN(amount(row.median));
  const cells = selected(study, figure.cells).filter((cell) => arms.some((arm) => known(rowOf(cell, arm))));
  if (!cells.length) return absent(study);
  const factor = study.factors.find((one) => one.name === figure.x) || study.factors[0];
  const points = (/** @type {Cell[]} */ some, /** @type {string} */ arm) => some.flatMap((cell) => {
    const row = rowOf(cell, arm);
    return row && known(row) ? [{ cell, x: position(factor, cell), row }] : [];
  }).sort((p, q) => p.x - q.x);
  const all = arms.flatMap((arm) => points(cells, arm));
  const numeric = cells.every((cell) => typeof cell.values[factor.name] === 'number');
  const x = { domain: extent(all.map((point) => point.x)), label: factor.unit ? `${factor.label} (${factor.unit})` : factor.label,
    ticks: [...new Set(all.map((point) => point.x))].sort((a, b) => a - b),
    names: numeric ? null : Object.fromEntries(factor.levels.map((level, index) => [index, level.label || level.name])) };
  const y = { domain: extent(all.flatMap(({ row }) => [row.median, row.low, row.high]), { zero: true }), label: withUnit(metric) };
  const list = figurePanels(study, figure, cells, curveFacets(study, figure, cells, factor)).map(([title, some]) => {
    const marks = arms.flatMap((arm) => curveMarks({ study, arm, metric, points: points(some, arm), top: y.domain[1] }));
    return { title, content: chart({ label: `${metric.label} by ${factor.label}${title ? `: ${title}` : ''}`, width: panelWidth(2), height: 280, x, y, marks }) };
  });
  const open = all.some(({ row }) => row.median === 'Inf');
  return h('div', {}, armLegend(study, arms), panels(list),
    open ? h('p', { class: 'quiet' }, `Triangles at the upper edge: half of the loads or more did not finish within ${study.timeout_s} s, or failed.`) : null);
}

/**
 * One arm's line; where its loads no longer finish it leaves the panel at its upper edge.
 * @param {{ study: Study, arm: string, metric: Metric, points: CurvePoint[], top: number }} given
 */
function curveMarks({ study, arm, metric, points, top }) {
  const { colour, mark } = armStyle(study, arm);
  const at = (/** @type {unknown} */ value) => Math.min(amount(value), top);
  const isOpen = (/** @type {CurvePoint} */ { row }) => row.median === 'Inf';
  const link = (/** @type {CurvePoint} */ { cell, row }) => ({
    href: routeTo([study.study, cell.name]), title: `${armLabel(study, arm)}, ${cell.name}: ${row.median === 'Inf' ? 'not finished' : `${short(row.median)} ${metric.unit || ''}`}, n = ${row.n}`,
    'data-cell': cell.name, 'data-arm': arm, 'data-value': row.median, 'data-high': row.high,
  });
  const [open, known] = [points.filter(isOpen), points.filter((point) => !isOpen(point))];
  return [
    lineMark(points.map(({ x, row }) => pair(x, at(row.median))), { stroke: colour }, { 'data-arm': arm }),
    Plot.ruleX(points.filter(({ row }) => finite(row.low)), { x: 'x', y1: ({ row }) => row.low, y2: ({ row }) => at(row.high), stroke: colour, strokeWidth: 1.5 }),
    Plot.dot(open, { x: 'x', y: () => top, dy: 5, r: 4.5, symbol: symbolTriangle, stroke: colour, strokeWidth: 2, className: 'dot', ...told(open, link) }),
    Plot.dot(known, { x: 'x', y: ({ row }) => row.median, r: 4.5, symbol: SYMBOLS[mark], fill: colour, stroke: colour, className: 'dot', ...told(known, link) }),
  ];
}
