// Claims: verdict, each number with its interval on a line against its bound, cost, what would decide.
'use strict';

/** @param {Table} table */
function byClaim(table) {
  return [...Map.groupBy(howquick.rows(table), (row) => row.claim).values()];
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
  const [from, to] = [Math.max(bound[0], low), Math.min(bound[1], high)];
  const svg = drawing(label, {
    width, height, margin: 4, className: 'bound', x: { domain: [low, high], axis: null }, y: { domain: [0, 1], axis: null },
    marks: [
      Plot.rect([row], { x1: () => from, x2: () => to, y1: () => 0, y2: () => 1, className: 'inside' }),
      Plot.ruleY([0.5], { className: 'axis' }), Plot.ruleX(limits, { className: 'limit' }),
      Plot.ruleY(finite(row.low) && finite(row.high) ? [row] : [], { x1: 'low', x2: 'high', y: () => 0.5, className: 'interval' }),
      Plot.dot([row], { x: 'value', y: () => 0.5, r: 4.5, className: 'estimate' }),
    ],
  });
  svg.prepend(s('title', {}, label));
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
 * What the numbers of a claim can be sorted by, and are found by.
 * @param {Named} study
 * @returns {DataColumn<Row>[]}
 */
function conditionColumns(study) {
  return [
    { name: 'what', head: 'number', value: (row) => `${row.what} ${row.note || ''}`, cell: (row) => h('span', { class: 'what' }, row.what, row.note ? h('small', {}, ` ${row.note}`) : '') },
    { name: 'value', head: 'value', value: (row) => row.value, cell: (row) => h('span', { class: 'nowrap' }, interval(row)) },
    { name: 'room', head: 'against its bound', value: roomOf, cell: boundLine },
    { name: 'bound', head: 'must be', value: (row) => row.bound, cell: (row) => h('span', { class: 'nowrap' }, row.bound) },
    { name: 'verdict', head: 'verdict', value: (row) => row.verdict, cell: (row) => verdict(row.verdict) },
    { name: 'n', head: 'loads', value: (row) => row.n, cell: (row) => number(row.n) },
    { name: 'decides', head: 'would decide', value: (row) => (finite(row.n) && finite(row.enough) ? row.enough - row.n : null), cell: (row) => h('span', { class: 'decides' }, decides(row)) },
    { name: 'cost', head: 'cost', value: (row) => row.cost_s, cell: (row) => h('span', { class: 'nowrap', 'data-value': row.cost_s }, seconds(row.cost_s)) },
    { name: 'cells', head: 'cells', value: (row) => `${row.cells || ''} ${row.against || ''}`, cell: (row) => claimCells(study, row) },
  ];
}

/**
 * How far a number is within what it must be; below 0 it is beyond.
 * @param {Row} row
 */
function roomOf(row) {
  const bound = boundOf(row.bound);
  return bound && finite(row.value) ? Math.min(row.value - bound[0], bound[1] - row.value) : null;
}

/**
 * @param {Named} study
 * @param {Row[]} rows
 * @param {Route | null} route of a page that lets one sort
 */
function conditions(study, rows, route) {
  const columns = conditionColumns(study);
  const lines = rows.map((row) => ({ properties: { 'data-condition': row.condition, class: 'condition' }, cells: columns.map(({ value, cell }) => (cell ? cell(row) : value(row))) }));
  const heads = route ? sortHeads(route, columns, rows[0].claim) : columns.map(({ head }) => head);
  return grid(heads, lines, { class: 'conditions', 'aria-label': `numbers of claim ${rows[0].claim}` });
}

/**
 * Claims with the numbers that they rest on: open, sorted and found as the route chooses, or folded where there is none.
 * @param {Named} study
 * @param {Table} table
 * @param {Route | null} route
 */
function claimsList(study, table, route) {
  const open = route !== null;
  const all = byClaim(table);
  if (!all.length) return h('p', { class: 'quiet' }, 'This study claims nothing.');
  const claims = route ? all.map((rows) => chosenRows(route, conditionColumns(study), rows)).filter((rows) => rows.length) : all;
  if (!claims.length) return h('p', { class: 'empty' }, 'No number of a claim has these words.');
  return h('div', { class: 'claims' }, claims.map((rows) => {
    const supporting = rows.filter((/** @type {Row} */ row) => row.verdict === 'supported').length;
    const box = h('details', { open, 'data-claim': rows[0].claim },
      h('summary', {}, verdict(rows[0].claim_verdict), h('span', { class: 'claim-text' }, rows[0].text,
        h('small', {}, ` ${rows[0].where ? `${rows[0].where}; ` : ''}${supporting} of ${rows.length} number${rows.length === 1 ? '' : 's'} support it`))));
    const show = () => { if (box.childElementCount === 1) box.append(conditions(study, rows, route)); };
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
    claimsList({ name: head.study, knows: (cell) => head.measured.includes(cell) }, head.claims, null),
    h('p', {}, link([head.study], 'All cells and figures', {}, { class: 'more' }))));
  return h('div', {}, h('h1', {}, 'What was measured, and what it says'),
    h('p', { class: 'lead' }, 'From a claim to the packet: open a claim for its numbers, a number for its cells, a cell for its loads, a load for its packets.'),
    parts);
}
