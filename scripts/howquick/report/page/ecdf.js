// Empirical distributions: which share of the loads took at most so long.
'use strict';

// Of panels that differ more, a common linear axis would show little (R/figures/kinds/cdf.R).
const WIDEST_LINEAR = 4;

/**
 * Points of the distribution of one arm in one cell; null where there is none. Loads that did not finish count and never come to
 * an end, so that such a curve stays below 1.
 * @param {Study} study
 * @param {string} cell
 * @param {string} arm
 * @param {Row[]} rows of that cell
 * @param {Metric} metric
 * @returns {Curve | null}
 */
function ecdfCurve(study, cell, arm, rows, metric) {
  const own = rows.filter((row) => row.arm === arm);
  const finished = own.filter((row) => row.status === 'ok' && finite(row[metric.column])).map((row) => row[metric.column]);
  const unfinished = own.filter((row) => row.status === 'failed' || row.status === 'timeout').length;
  const summary = metric.column === study.metric.column ? summaryOf(study).get(`${cell} ${arm}`) : null;
  // Where too many loads are invalid, the statistics leave the arm out.
  const n = summary ? summary.n : finished.length + unfinished;
  // A rate that was not reached is 0.
  const worst = metric.better === 'higher' ? new Array(unfinished).fill(0) : [];
  const sorted = [...worst, ...finished].sort((a, b) => a - b);
  if (!n || !sorted.length) return null;
  return { cell, arm, n, points: [pair(sorted[0], 0), ...sorted.map((value, index) => pair(value, (index + 1) / n))] };
}

/**
 * One axis for all panels, so that they can be compared by eye: from 0, or logarithmic.
 * @param {Curve[][]} lists of the panels
 * @returns {Axis}
 */
function ecdfAxis(lists) {
  const values = lists.flat().flatMap(({ points }) => points.map(([x]) => x));
  const ends = lists.filter((list) => list.length).map((list) => Math.max(...list.map(({ points }) => points[points.length - 1][0])));
  const [least, most] = [Math.min(...ends), Math.max(...ends)];
  if (!ends.length || most <= WIDEST_LINEAR * least) return { domain: [0, 1.04 * (most > 0 ? most : 1)] };
  const begin = values.reduce((low, value) => Math.min(low, value), Infinity);
  return { domain: [begin / 1.15, 1.15 * most], log: true };
}

/**
 * @param {Study} study
 * @param {Curve[]} curves
 * @param {Metric} metric
 * @param {{ width: number, axis: Axis }} given
 */
function ecdf(study, curves, metric, { width, axis }) {
  const many = curves.reduce((sum, { points }) => sum + points.length, 0) > MOST_ELEMENTS;
  const marks = curves.flatMap(({ arm, cell, n, points }) => {
    const { colour, mark } = armStyle(study, arm);
    const last = points[points.length - 1];
    const whole = last[1] < 1 ? [...points, pair(axis.domain[1], last[1])] : points;
    // The value holds until the next point.
    const line = lineMark(whole, { stroke: colour, curve: 'step-after' }, { 'data-arm': arm, 'data-cell': cell, 'data-n': n });
    return many ? [line] : [line, Plot.dot(points.slice(1), { r: 3, symbol: SYMBOLS[mark], fill: colour })];
  });
  return chart({ label: `distribution of ${metric.label}`, width, height: 240, x: { ...axis, label: withUnit(metric) }, y: { domain: [0, 1], label: 'share of loads' }, marks });
}

/**
 * Rows of all loads of a cell: of the study's metric those of its page, of another the cell's own.
 * @param {Study} study
 * @param {string} cell
 * @param {string} column
 * @returns {Promise<Row[]>}
 */
async function loadsOf(study, cell, column) {
  if (study.metric.column === column) return howquick.rows(study.runs).filter((row) => row.cell === cell);
  return howquick.rows((await howquick.load(`${study.study}/c${study.cell_names.indexOf(cell)}`)).runs);
}

/**
 * @param {Study} study
 * @param {Figure} figure
 */
async function cdfFigure(study, figure) {
  const { metric } = study;
  const arms = figureArms(study, figure);
  const facet = listOf(figure.facet);
  const cells = selected(study, figure.cells);
  const found = await Promise.all(cells.map(async (cell) => {
    const rows = await loadsOf(study, cell.name, metric.column);
    return { cell, curves: arms.map((arm) => ecdfCurve(study, cell.name, arm, rows, metric)).filter(isThere) };
  }));
  const shown = found.filter(({ curves }) => curves.length);
  if (!shown.length) return absent(study);
  const axis = ecdfAxis(shown.map(({ curves }) => curves));
  const names = facet.length ? facet : varying(study, cells);
  const list = shown.map(({ cell, curves }) => ({
    title: link([study.study, cell.name], cellTitle(study, cell.name, names)), content: ecdf(study, curves, metric, { width: panelWidth(shown.length), axis }),
  }));
  const counts = shown.flatMap(({ curves }) => curves.map(({ n }) => n));
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  return h('div', {}, armLegend(study, arms), panels(list),
    h('p', { class: 'quiet' }, `n = ${least === most ? most : `${least} to ${most}`} loads per curve; one that ends below 1 has loads that did not finish.${axis.log ? ' The axis is logarithmic.' : ''}`));
}
