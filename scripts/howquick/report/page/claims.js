// Claims: verdict, each number with its interval on a line against its bound, cost, what would decide.
'use strict';

/** @param {Table} table */
function byClaim(table) {
  const found = new Map();
  for (const row of howquick.rows(table)) {
    if (!found.has(row.claim)) found.set(row.claim, []);
    found.get(row.claim).push(row);
  }
  return [...found.values()];
}

/**
 * [least, most] of what supports the claim, by the words of claims.csv.
 * @param {string} text
 */
function boundOf(text) {
  const numbers = (String(text).match(/-?\d+(\.\d+)?(e[-+]?\d+)?/g) || []).map(Number);
  if (/ to /.test(text) && numbers.length === 2) return numbers;
  if (/^(more than|at least)/.test(text)) return [numbers[0], Infinity];
  if (/^(less than|at most)/.test(text)) return [-Infinity, numbers[0]];
  return null;
}

/** @param {Row} row */
function boundLine(row) {
  const bound = boundOf(row.bound);
  const label = `${short(row.value)}${finite(row.low) ? ` (${short(row.low)} to ${short(row.high)})` : ''}, must be ${row.bound}`;
  if (!bound || !finite(row.value)) return h('span', { class: 'quiet' }, 'no number');
  const [width, height] = [220, 26];
  const limits = bound.filter(Number.isFinite);
  const [low, high] = extent([row.value, row.low, row.high, ...limits], { pad: 0.14 });
  const X = scale([low, high], [4, width - 4]);
  const [from, to] = [Math.max(bound[0], low), Math.min(bound[1], high)];
  const svg = s('svg', { viewBox: `0 0 ${width} ${height}`, width, height, class: 'bound', role: 'img', 'aria-label': label }, s('title', {}, label),
    s('rect', { class: 'inside', x: X(from), y: 3, width: Math.max(X(to) - X(from), 1), height: height - 6 }),
    s('line', { class: 'axis', x1: 4, x2: width - 4, y1: height / 2, y2: height / 2 }),
    limits.map((limit) => s('line', { class: 'limit', x1: X(limit), x2: X(limit), y1: 1, y2: height - 1 })));
  if (finite(row.low) && finite(row.high)) {
    svg.append(s('line', { class: 'interval', x1: X(row.low), x2: X(row.high), y1: height / 2, y2: height / 2 }));
  }
  svg.append(s('circle', { class: 'estimate', cx: X(row.value), cy: height / 2, r: 4.5 }));
  return svg;
}

/** @param {Row} row */
function decides(row) {
  if (!finite(row.n) || !finite(row.enough)) return '';
  if (row.n >= row.enough) return 'enough loads';
  return `${row.enough - row.n} more repetition${row.enough - row.n === 1 ? '' : 's'} of ${row.enough}`;
}

/**
 * @param {Named} study
 * @param {Row} row
 */
function claimCells(study, row) {
  const words = `${row.cells || ''} ${row.against || ''}`.split(' ');
  const known = words.filter((word) => word && study.knows(word));
  const some = known.slice(0, 3).map((cell) => link([study.name, cell], cell, {}, { class: 'cell-link' }));
  const rest = known.length > 3 ? h('details', {}, h('summary', {}, `${known.length - 3} more cells`),
    known.slice(3).map((cell) => link([study.name, cell], cell, {}, { class: 'cell-link' }))) : null;
  return [some, rest];
}

/**
 * @param {Named} study
 * @param {Row[]} rows
 */
function conditions(study, rows) {
  return grid(['number', 'value', 'against its bound', 'must be', 'verdict', 'loads', 'would decide', 'cost', 'cells'], rows.map((row) => ({
    properties: { 'data-condition': row.condition, class: 'condition' },
    cells: [
      h('span', { class: 'what' }, row.what, row.note ? h('small', {}, ` ${row.note}`) : ''), h('span', { class: 'nowrap' }, interval(row)), boundLine(row), h('span', { class: 'nowrap' }, row.bound),
      verdict(row.verdict), number(row.n), h('span', { class: 'decides' }, decides(row)), h('span', { class: 'nowrap', 'data-value': row.cost_s }, seconds(row.cost_s)), claimCells(study, row),
    ],
  })), { class: 'conditions', 'aria-label': `numbers of claim ${rows[0].claim}` });
}

/**
 * `study` is {name, knows(cell)}; the first page knows no more.
 * @param {Named} study
 * @param {Table} table
 * @param {boolean} open
 */
function claimsList(study, table, open) {
  const claims = byClaim(table);
  if (!claims.length) return h('p', { class: 'quiet' }, 'This study claims nothing.');
  return h('div', { class: 'claims' }, claims.map((rows) => {
    const supporting = rows.filter((/** @type {Row} */ row) => row.verdict === 'supported').length;
    const box = h('details', { open, 'data-claim': rows[0].claim },
      h('summary', {}, verdict(rows[0].claim_verdict), h('span', { class: 'claim-text' }, rows[0].text,
        h('small', {}, ` ${rows[0].where ? `${rows[0].where}; ` : ''}${supporting} of ${rows.length} number${rows.length === 1 ? '' : 's'} support it`))));
    const show = () => { if (box.childElementCount === 1) box.append(conditions(study, rows)); };
    if (open) show();
    else box.addEventListener('toggle', show);
    return box;
  }));
}

/** @param {Table} table */
function tally(table) {
  const counts = new Map();
  for (const [row] of byClaim(table)) counts.set(row.claim_verdict, (counts.get(row.claim_verdict) || 0) + 1);
  return [...counts].map(([text, count]) => [h('span', { class: 'nowrap' }, verdict(text), ` ${count}`), ' ']);
}

/** @param {Head} head */
function studyFacts(head) {
  const states = Object.entries(head.states).map(([state, count]) => `${count} ${state}`).join(', ');
  const total = Object.values(head.states).reduce((sum, count) => sum + count, 0);
  return facts([
    ['loads', `${total} (${states || 'none'})`], ['arms', String(head.arms)], ['cells', `${head.measured.length} of ${head.planned}`],
    ['scale', head.scale], ['clock', head.clocks.join(' and ')],
    ['measured', head.times.length ? `${day(head.times[0])} to ${day(head.times[1])}` : null],
    ['on', head.machines.join(', ')], ['repeated', head.disturbed ? `${head.disturbed} loads after a disturbance` : null],
    ['all loads took', seconds(head.seconds)],
  ]);
}

/** @param {Record<string, any>} paper */
function citation(paper) {
  const title = /[.?!]$/.test(paper.title) ? paper.title : `${paper.title}.`;
  return `${paper.authors}: ${title} ${[paper.venue, paper.year].filter(Boolean).join(', ')}`;
}

async function studiesPage() {
  const { studies } = await howquick.load('index');
  document.title = 'howquick report';
  const parts = studies.map((/** @type {Head} */ head) => h('section', { class: 'card', 'data-study': head.study },
    h('h2', {}, link([head.study], head.title)),
    head.question ? h('p', { class: 'lead' }, head.question) : null,
    head.paper ? h('p', { class: 'quiet' }, citation(head.paper)) : null,
    studyFacts(head),
    h('p', {}, tally(head.claims)),
    claimsList({ name: head.study, knows: (cell) => head.measured.includes(cell) }, head.claims, false),
    h('p', {}, link([head.study], 'All cells and figures', {}, { class: 'more' }))));
  return h('div', {}, h('h1', {}, 'What was measured, and what it says'),
    h('p', { class: 'lead' }, 'From a claim to the packet: open a claim for its numbers, a number for its cells, a cell for its loads, a load for its packets.'),
    parts);
}
