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
  if (figure.facet) return [].concat(figure.facet);
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
  const known = (/** @type {Row | undefined} */ row) => Boolean(row) && !Number.isNaN(amount(row.median));
  const cells = selected(study, figure.cells).filter((cell) => arms.some((arm) => known(rowOf(cell, arm))));
  if (!cells.length) return absent(study);
  const factor = study.factors.find((one) => one.name === figure.x) || study.factors[0];
  const points = (/** @type {Cell[]} */ some, /** @type {string} */ arm) => some.map((cell) => ({ cell, x: position(factor, cell), row: rowOf(cell, arm) }))
    .filter(({ row }) => known(row)).sort((p, q) => p.x - q.x);
  const all = arms.flatMap((arm) => points(cells, arm));
  const numeric = cells.every((cell) => typeof cell.values[factor.name] === 'number');
  const x = { domain: extent(all.map((point) => point.x)), label: factor.unit ? `${factor.label} (${factor.unit})` : factor.label,
    ticks: [...new Set(all.map((point) => point.x))].sort((a, b) => a - b),
    names: numeric ? null : Object.fromEntries(factor.levels.map((level, index) => [index, level.label || level.name])) };
  const y = { domain: extent(all.flatMap(({ row }) => [row.median, row.low, row.high]), { zero: true }), label: withUnit(metric) };
  const list = figurePanels(study, figure, cells, curveFacets(study, figure, cells, factor)).map(([title, some]) => {
    const picture = chart({ width: panelWidth(2), height: 280, x, y, label: `${metric.label} by ${factor.label}${title ? `: ${title}` : ''}` }, (svg, X, Y) => {
      for (const arm of arms) drawCurve(svg, X, Y, { study, arm, metric, points: points(some, arm), top: y.domain[1] });
    });
    return { title, content: picture };
  });
  const open = all.some(({ row }) => row.median === 'Inf');
  return h('div', {}, armLegend(study, arms), panels(list),
    open ? h('p', { class: 'quiet' }, `Triangles at the upper edge: half of the loads or more did not finish within ${study.timeout_s} s, or failed.`) : null);
}

/**
 * One arm's line; where its loads no longer finish it leaves the panel at its upper edge.
 * @param {SVGSVGElement} svg
 * @param {Scale} X
 * @param {Scale} Y
 * @param {{ study: Study, arm: string, metric: Metric, points: { cell: Cell, x: number, row: Row }[], top: number }} given
 */
function drawCurve(svg, X, Y, { study, arm, metric, points, top }) {
  const { colour, mark: kind } = armStyle(study, arm);
  const at = (/** @type {any} */ value) => Math.min(amount(value), top);
  svg.append(polyline(points.map(({ x, row }) => [x, at(row.median)]), X, Y, { stroke: colour, 'data-arm': arm }));
  for (const { cell, x, row } of points) {
    const open = row.median === 'Inf';
    if (finite(row.low)) svg.append(s('line', { x1: X(x), x2: X(x), y1: Y(row.low), y2: Y(at(row.high)), stroke: colour, 'stroke-width': 1.5 }));
    const title = `${armLabel(study, arm)}, ${cell.name}: ${open ? 'not finished' : `${short(row.median)} ${metric.unit || ''}`}, n = ${row.n}`;
    const shape = open ? mark('triangle', X(x), Y(top) + 5, 5.5, { fill: 'none', stroke: colour, 'stroke-width': 2 }) : mark(kind, X(x), Y(row.median), 4.5, { fill: colour });
    const element = pointLink(routeTo([study.study, cell.name]), title, shape);
    fill(element, { 'data-cell': cell.name, 'data-arm': arm, 'data-value': row.median, 'data-high': row.high }, []);
    svg.append(element);
  }
}
