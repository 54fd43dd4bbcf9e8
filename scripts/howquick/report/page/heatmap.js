// Every cell as a tile: how a pair of arms differs, or one arm's median; any factor on either axis.
'use strict';

// Differences from here on have the full colour.
const FULL_PERCENT = 60;

/**
 * @param {Route} route
 * @param {Study} study
 */
function heatmapChoices(route, study) {
  const given = route.choices;
  const first = study.comparison.pairs[0] || [study.plan_arms[0].name, ''];
  const names = study.plan_arms.map((arm) => arm.name);
  const factors = varying(study, selected(study));
  // The factor with most levels makes the table widest and least long.
  const levels = (/** @type {string} */ name) => factorOf(study, name).levels.length;
  const widest = [...factors].sort((one, two) => levels(two) - levels(one))[0] || (study.factors[0] && study.factors[0].name);
  const columns = factors.includes(given.x) ? given.x : widest;
  return {
    a: names.includes(given.a) ? given.a : first[0],
    b: given.b === '-' ? '' : (names.includes(given.b) ? given.b : first[1]),
    metric: study.medians.includes(given.metric) ? given.metric : study.metric.column,
    x: columns,
    y: given.y && given.y !== columns && factors.includes(given.y) ? given.y : '',
    factors,
  };
}

/**
 * @param {Route} route
 * @param {Study} study
 * @param {{ below?: Node }} [extra]
 */
async function heatmap(route, study, extra = {}) {
  const chosen = heatmapChoices(route, study);
  const own = chosen.metric === study.metric.column;
  const medians = await mediansOf(study, chosen.metric);
  const cells = filteredCells(route, study);
  const comparisons = own ? comparisonOf(study) : new Map();
  const tile = (/** @type {Cell} */ cell) => ({ ...tileOf(study, cell, chosen, medians, comparisons), mark: marksOf(study, cell, chosen) });
  const costly = cells.some((cell) => marksOf(study, cell, chosen));
  const compared = cells.some((cell) => comparisons.has(`${cell.name} ${chosen.a} ${chosen.b}`));
  return h('div', {},
    heatmapControls(route, study, chosen),
    h('p', { class: 'quiet' }, heatmapNote(study, chosen, own, compared),
      costly ? ` What server and client use of a processor by the real clock, which virtual time leaves out: ${COSTLY_KEY}` : ''),
    chosen.b ? scaleLegend(study, chosen) : null,
    cells.length ? facets(study, cells, chosen, tile) : h('p', { class: 'empty' }, 'No measured cell fits these filters.'),
    extra.below || null);
}

/**
 * @param {Study} study
 * @param {Heat} chosen
 * @param {boolean} own
 * @param {boolean} compared
 */
function heatmapNote(study, { a, b, metric }, own, compared) {
  const name = own ? study.metric.label : metric;
  if (!b) return `Median of ${name}${own && study.metric.unit ? ` (${study.metric.unit})` : ''} of ${armLabel(study, a)}. Each tile leads to its cell.`;
  const from = compared ? 'By the statistics (comparisons.csv); * is significant after adjustment.'
    : 'Medians of finished loads side by side, without a test: the study does not compare this pair or this column.';
  return `${name}: ${armLabel(study, a)} against ${armLabel(study, b)}, difference of medians in percent. ${from}`;
}

/**
 * @param {Route} route
 * @param {Study} study
 * @param {Heat} chosen
 */
function heatmapControls(route, study, chosen) {
  const arms = study.plan_arms.map((arm) => [arm.name, arm.label || arm.name]);
  const pairs = study.comparison.pairs.map(([a, b]) => [`${a} ${b}`, `${armLabel(study, a)} : ${armLabel(study, b)}`]);
  const factor = (/** @type {string} */ name) => [name, factorOf(study, name).label];
  const pair = `${chosen.a} ${chosen.b}`;
  if (!pairs.some(([value]) => value === pair)) pairs.unshift([pair, 'as chosen beside']);
  return h('div', { class: 'controls' },
    choice('pair', pairs, pair, (value) => choose(route, { a: value.split(' ')[0], b: value.split(' ')[1] || '-' })),
    choice('first arm', arms, chosen.a, (a) => choose(route, { a, b: chosen.b || '-' })),
    choice('second arm', [['-', 'none: medians of the first'], ...arms], chosen.b || '-', (b) => choose(route, { a: chosen.a, b })),
    choice('metric', metricChoices(study), chosen.metric, (metric) => choose(route, { metric })),
    chosen.factors.length ? choice('columns', chosen.factors.map(factor), chosen.x, (x) => choose(route, { x })) : null,
    chosen.factors.length > 1 ? choice('rows', [['', 'all other factors'], ...chosen.factors.filter((name) => name !== chosen.x).map(factor)], chosen.y, (y) => choose(route, { y })) : null,
    choice('cells with loads that', [['', 'ended in any way'], ...statusChoices(study).map(([value, text]) => [value, `are ${text}`])], route.choices.status || '', (status) => choose(route, { status })),
    levelFilters(route, study));
}

// A failure of any kind, as an address has it.
const TROUBLE = 'not-ok';

/**
 * How loads of the study ended: [value, text].
 * @param {Study} study
 */
function statusChoices(study) {
  const there = Object.keys(study.states);
  return [...(there.some((name) => name !== 'ok') ? [[TROUBLE, 'not ok']] : []), ...there.map((name) => [name, name])];
}

/**
 * @param {Row} row
 * @param {string} wanted
 */
function endedAs(row, wanted) {
  return !wanted || (wanted === TROUBLE ? row.status !== 'ok' : row.status === wanted);
}

/** @param {Study} study */
function metricChoices(study) {
  const own = study.metric;
  return [[own.column, withUnit(own)], ...study.medians.filter((name) => name !== own.column).map((name) => [name, name.replaceAll('_', ' ')])];
}

/**
 * One choice per factor that varies: all levels, or one.
 * @param {Route} route
 * @param {Study} study
 */
function levelFilters(route, study) {
  const cells = selected(study);
  return varying(study, cells).map((name) => {
    const factor = factorOf(study, name);
    const there = new Set(cells.map((cell) => cell.levels[name]));
    const levels = factor.levels.filter((level) => there.has(level.name));
    return choice(`only ${factor.label}`, [['', 'all'], ...levels.map((level) => [level.name, levelText(factor, level)])],
      route.choices[`f.${name}`] || '', (value) => choose(route, { [`f.${name}`]: value }));
  });
}

/**
 * Cells of the chosen levels, of which a load ended as is chosen.
 * @param {Route} route
 * @param {Study} study
 */
function filteredCells(route, study) {
  const { status = '' } = route.choices;
  const there = new Set(howquick.rows(study.runs).filter((row) => endedAs(row, status)).map((row) => row.cell));
  return selected(study).filter((cell) => there.has(cell.name) && study.factors.every((factor) => {
    const wanted = route.choices[`f.${factor.name}`];
    return !wanted || cell.levels[factor.name] === wanted;
  }));
}

/**
 * The mark of a tile where the processor would add much to a load of one of its arms.
 * @param {Study} study
 * @param {Cell} cell
 * @param {{ a: string, b: string }} options
 */
function marksOf(study, cell, { a, b }) {
  return [a, b].some((arm) => isCostly(summaryOf(study).get(`${cell.name} ${arm}`))) ? COSTLY : '';
}

/**
 * @param {Study} study
 * @param {Cell} cell
 * @param {{ a: string, b: string }} options
 * @param {Map<string, Row>} medians
 * @param {Map<string, Row>} comparisons
 */
function tileOf(study, cell, { a, b }, medians, comparisons) {
  const [one, two] = [a, b].map((arm) => medians.get(`${cell.name} ${arm}`));
  if (!b) return { value: one && one.median, text: one ? short(one.median) : '', title: one ? `n = ${one.n}` : 'not measured' };
  const row = comparisons.get(`${cell.name} ${a} ${b}`);
  if (row && row.state !== 'measured') return { text: '', title: row.state };
  if (row && failText(row)) return { text: failText(row), difference: row.difference_percent, title: `${armLabel(study, a)} ${short(row.median_a)}, ${armLabel(study, b)} ${short(row.median_b)}; ∞: half of the loads or more did not finish`, state: 'failed' };
  let difference = row ? row.difference_percent : null;
  if (difference === null && one && two && finite(one.median) && finite(two.median) && two.median !== 0) {
    difference = 100 * (one.median / two.median - 1);
  }
  if (!finite(difference)) return { text: one && two ? '—' : '', title: one && two ? 'no finite medians' : 'not measured' };
  const words = [`${armLabel(study, a)} ${short(row ? row.median_a : one?.median)}`, `${armLabel(study, b)} ${short(row ? row.median_b : two?.median)}`];
  if (row && finite(row.low)) words.push(`ratio ${short(row.ratio)} (${short(row.low)} to ${short(row.high)})`);
  if (row && finite(row.p_adjusted)) words.push(`p = ${short(row.p_adjusted)} adjusted`);
  return { difference, text: percent(difference), title: words.join('; '), significant: String(row?.significant).toUpperCase() === 'TRUE' };
}

/**
 * @param {Study} study
 * @param {Cell[]} cells
 * @param {Heat} chosen
 * @param {(cell: Cell) => Tile} tile
 */
function facets(study, cells, chosen, tile) {
  const others = chosen.factors.filter((name) => name !== chosen.x && name !== chosen.y);
  if (!chosen.y) return heatTable(study, cells, chosen.x, others, tile, 'all cells');
  const groups = Map.groupBy(cells, (cell) => (others.length && cellTitle(study, cell.name, others)) || 'all cells');
  return h('div', { class: 'facets' }, [...groups].map(([title, some]) => h('div', {}, h('h3', {}, title), heatTable(study, some, chosen.x, [chosen.y], tile, title))));
}

/**
 * @param {Study} study
 * @param {Cell[]} cells
 * @param {string | string[]} across factors of the columns
 * @param {string[]} rowFactors
 * @param {(cell: Cell) => Tile} tile
 * @param {string} label
 */
function heatTable(study, cells, across, rowFactors, tile, label) {
  const named = (/** @type {string[]} */ names) => names.map((name) => study.factors.find((factor) => factor.name === name)).filter(isThere);
  const [columns, rows] = [named(listOf(across)), named(rowFactors)];
  if (!columns.length) return grid(['cell', 'value'], cells.map((cell) => [link([study.study, cell.name], cell.name), tile(cell).text]));
  const key = (/** @type {Factor[]} */ factors, /** @type {Cell} */ cell) => factors.map((factor) => cell.levels[factor.name]).join(' ');
  const heads = [...new Map(inOrder(columns, cells).map((cell) => [key(columns, cell), cell]))];
  const lines = new Map();
  for (const cell of inOrder(rows, cells)) {
    const line = key(rows, cell);
    if (!lines.has(line)) lines.set(line, { cell, tiles: new Map() });
    const { tiles } = lines.get(line);
    // Factors that others tie together can leave two cells in one place.
    tiles.set(key(columns, cell), [...(tiles.get(key(columns, cell)) || []), cell]);
  }
  const head = h('tr', {}, rows.map((factor) => h('th', { scope: 'col' }, factor.label)),
    heads.map(([, cell]) => h('th', { scope: 'col', class: 'level' }, columns.map((factor) => h('div', {}, h('small', {}, factor.label), factorLevel(factor, cell))))));
  const body = [...lines.values()].map(({ cell, tiles }) => h('tr', {},
    rows.map((factor) => h('th', { scope: 'row' }, factorLevel(factor, cell))),
    heads.map(([place]) => h('td', { class: 'tiles' }, (tiles.get(place) || []).map((/** @type {Cell} */ one) => tileLink(study, one, tile(one)))))));
  return h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': `heatmap, ${label}` }, h('table', { class: 'heat' }, h('thead', {}, head), h('tbody', {}, body)));
}

/**
 * Cells in the order of the levels of some factors, of the first first.
 * @param {Factor[]} factors
 * @param {Cell[]} cells
 */
function inOrder(factors, cells) {
  const place = (/** @type {Factor} */ factor, /** @type {Cell} */ cell) => factor.levels.findIndex((level) => level.name === cell.levels[factor.name]);
  return [...cells].sort((one, two) => factors.reduce((found, factor) => found || place(factor, one) - place(factor, two), 0));
}

/**
 * @param {Study} study
 * @param {Cell} cell
 * @param {Tile} tile
 */
function tileLink(study, cell, { difference, text, title, significant, mark, state, decided, side, share }) {
  const words = [text, significant ? '*' : '', mark].filter(Boolean).join(' ');
  const kind = state ? `state-${state}` : finite(difference) ? side || (difference < 0 ? 'lower' : 'higher') : 'plain';
  const element = link([study.study, cell.name], words || '·', {}, {
    class: `tile ${kind}${decided ? ' decided' : ''}`, title: `${cell.name}: ${title}`,
    'data-cell': cell.name, 'data-value': difference, 'data-text': state || side ? text : null,
  });
  if (finite(difference)) element.style.setProperty('--share', `${Math.round((share ?? Math.min(Math.abs(difference) / FULL_PERCENT, 1)) * 62)}%`);
  return element;
}

/**
 * @param {Study} study
 * @param {Heat} chosen
 */
function scaleLegend(study, { a, b }) {
  return h('p', { class: 'scale-legend' }, h('span', { class: 'tile lower sample' }, `${armLabel(study, a)} lower`), ' ',
    h('span', { class: 'tile higher sample' }, `${armLabel(study, a)} higher`), ` than ${armLabel(study, b)}; full colour from ${FULL_PERCENT} % on`);
}
