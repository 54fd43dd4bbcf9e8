// Heatmaps of the paper: every cell for every pair of arms, with what the printed ones say.
'use strict';

// A tile is as dark as it gets at half or twice the other arm's median (R/figures/tiles.R).
const DARKEST_LOG2 = 1;

/**
 * Did it not finish? Then a time is infinite, and a rate 0.
 * @param {unknown} value
 */
function isUnfinished(value) {
  return amount(value) === Infinity || value === 0;
}

/**
 * Which arm of a pair has a median of loads that did not finish; '' where neither has.
 * @param {Row} row of comparisons
 */
function failText(row) {
  const [a, b] = [isUnfinished(row.median_a), isUnfinished(row.median_b)];
  if (!a && !b) return '';
  return a && b ? 'both' : `${a ? '+' : '−'}fail`;
}

/**
 * Comparisons that a figure shows, by "cell a b": the study's, or its own where it has another metric or other pairs.
 * @param {Study} study
 * @param {Figure} figure
 */
function figureComparisons(study, figure) {
  const own = howquick.rows(study.tables.figure_comparisons).filter((row) => row.figure === figure.name);
  return own.length ? new Map(own.map((row) => [`${row.cell} ${row.a} ${row.b}`, row])) : comparisonOf(study);
}

/**
 * @param {Study} study
 * @param {Metric} metric
 * @param {number} silent percent up to which a difference carries no number
 * @param {Row | undefined} row of comparisons
 * @returns {Tile}
 */
function comparedTile(study, metric, silent, row) {
  if (!row || row.state === 'not measured') return { text: '', title: 'not measured, or disturbed too often', state: 'not-measured' };
  if (row.state !== 'measured') return { text: 'n/a', title: row.state, state: 'not-supported' };
  const words = [`${armLabel(study, row.a)} ${short(row.median_a)}`, `${armLabel(study, row.b)} ${short(row.median_b)}`, `rule: ${row.rule === 'tie' ? 'tie' : armLabel(study, row.rule)}`];
  if (finite(row.p_adjusted)) words.push(`p = ${short(row.p_adjusted)} adjusted`);
  const mark = [row.a, row.b].some((arm) => isCostly(summaryOf(study).get(`${row.cell} ${arm}`))) ? COSTLY : '';
  const significant = String(row.significant).toUpperCase() === 'TRUE';
  const failed = failText(row);
  if (failed) return { text: failed, difference: row.difference_percent, title: words.join('; '), state: 'failed' };
  const shade = metric.better === 'higher' ? -Math.log2(row.ratio) : Math.log2(row.ratio);
  const difference = row.difference_percent;
  const quiet = Math.abs(difference) <= silent * (1 + 1e-9);
  const text = quiet ? '' : difference >= 900 ? `×${row.ratio.toFixed(0)}` : `${difference < 0 ? '−' : '+'}${Math.abs(difference).toFixed(0)}`;
  return { text, difference, title: words.join('; '), significant, mark, decided: row.rule !== 'tie', side: shade < 0 ? 'lower' : 'higher', share: Math.min(Math.abs(shade) / DARKEST_LOG2, 1) };
}

/**
 * Pairs that get a panel: without arms that this scale or selection leaves out.
 * @param {Study} study
 * @param {Figure} figure
 * @param {Cell[]} cells
 * @param {Map<string, Row>} comparisons
 */
function drawnPairs(study, figure, cells, comparisons) {
  const planned = new Set(study.plan_arms.map((arm) => arm.name));
  const measured = (/** @type {string} */ a, /** @type {string} */ b) => cells.some((cell) => (comparisons.get(`${cell.name} ${a} ${b}`) || {}).state === 'measured');
  return (figure.pairs || study.comparison.pairs).filter(([a, b]) => measured(a, b) || (planned.has(a) && planned.has(b)));
}

/**
 * @param {Study} study
 * @param {Figure} figure
 */
function heatmapFigure(study, figure) {
  const metric = metricOf(study, figure);
  const cells = selected(study, figure.cells);
  const comparisons = figureComparisons(study, figure);
  const pairs = drawnPairs(study, figure, cells, comparisons);
  if (!cells.length || !pairs.length) return absent(study);
  const silent = figure.silent_percent ?? ALIKE_PERCENT;
  const names = varying(study, cells);
  const columns = figure.columns || names.slice(-1);
  const rows = figure.rows || names.filter((name) => !columns.includes(name));
  const tiles = pairs.map(([a, b]) => new Map(cells.map((cell) => [cell.name, comparedTile(study, metric, silent, comparisons.get(`${cell.name} ${a} ${b}`))])));
  const some = (/** @type {(tile: Tile) => any} */ test) => tiles.some((of) => [...of.values()].some(test));
  const better = metric.better === 'higher' ? 'higher' : metric.unit === 's' ? 'faster' : 'lower';
  const key = [
    `${withUnit(metric)}: medians in percent of the second; blue: the first is ${better}; no number: within ${silent} %.`,
    some((tile) => tile.decided) ? 'Framed: decided by the rule.' : '', some((tile) => tile.significant) ? '*: significant after adjustment.' : 'No tile is significant after adjustment.',
    some((tile) => tile.state === 'failed') ? 'Dashed: at least half of the loads of the first (+), the second (−) or both did not finish.' : '',
    some((tile) => tile.state === 'not-supported') ? 'Grey, n/a: not applicable.' : '', some((tile) => tile.state === 'not-measured') ? 'Dotted: not measured, or disturbed too often.' : '',
    some((tile) => tile.mark) ? `Processor time that virtual time leaves out, ${COSTLY_KEY}` : '',
  ];
  return h('div', {}, h('div', { class: 'facets' }, pairs.map(([a, b], index) => h('div', { 'data-pair': `${a} ${b}` }, h('h4', {}, `${armLabel(study, a)} against ${armLabel(study, b)}`),
    heatTable(study, cells, columns, rows, (cell) => /** @type {Tile} */ (tiles[index].get(cell.name)), `${figure.name}: ${a} against ${b}`)))), h('p', { class: 'quiet' }, key.filter(Boolean).join(' ')));
}
