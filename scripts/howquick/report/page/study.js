// One study: cells as a heatmap, claims, figures, arms, loads, and where it departs from the paper.
'use strict';

const TABS = [['', 'Cells'], ['claims', 'Claims'], ['figures', 'Figures'], ['arms', 'Arms'], ['loads', 'Loads'], ['about', 'About']];

/** @param {Route} route */
async function studyPage(route) {
  const [name] = route.parts;
  /** @type {Study} */
  const study = await howquick.load(`${name}/study`);
  document.title = `${study.title} – howquick report`;
  const tab = TABS.some(([known]) => known === route.choices.tab) ? route.choices.tab : '';
  const tabs = h('nav', { class: 'tabs', 'aria-label': 'parts of the study' }, TABS.map(([key, text]) => link([name], text, { ...route.choices, tab: key }, key === tab ? { 'aria-current': 'page' } : {})));
  /** @type {Record<string, (route: Route, study: Study) => Promise<Node>>} */
  const views = { '': heatmap, claims: claimsTab, figures: figuresTab, arms: armsTab, loads: loadsTab, about: aboutTab };
  return h('div', {}, h('h1', {}, study.title), study.question ? h('p', { class: 'lead' }, study.question) : null, studyFacts(study), tabs, await views[tab](route, study));
}

/**
 * @param {Route} route
 * @param {Study} study
 */
async function claimsTab(route, study) {
  return h('div', {}, h('p', {}, tally(study.claims)), h('div', { class: 'controls' }, findBox(route, 'numbers with')),
    claimsList({ name: study.study, knows: (cell) => study.measured.includes(cell) }, study.claims, route));
}

/**
 * @param {Route} route
 * @param {Study} study
 */
async function figuresTab(route, study) {
  const names = study.figures.map((figure) => [figure.name, `${figure.paper ? `${figure.paper}: ` : ''}${figure.title || figure.name}`]);
  const chosen = route.choices.figure || '';
  const some = study.figures.filter((figure) => !chosen || figure.name === chosen);
  const views = await Promise.all(some.map((figure) => figureView(study, figure).catch((error) => h('section', { class: 'card' }, h('h3', {}, figure.title), h('p', { class: 'empty' }, error.message)))));
  return h('div', {}, h('div', { class: 'controls' }, choice('figure', [['', 'all'], ...names], chosen, (figure) => choose(route, { figure }))), views);
}

/**
 * @param {Route} route
 * @param {Study} study
 */
async function armsTab(route, study) {
  const overall = howquick.rows(study.tables.overall);
  const programs = howquick.rows(study.tables.programs);
  return h('div', {},
    h('h2', {}, `Pairs over all cells: ${study.metric.label}`),
    grid(['first', 'second', 'cells', 'first wins', 'second wins', 'tie', 'ratio of medians', 'p adjusted'], overall.map((row) => [
      armLabel(study, row.a), armLabel(study, row.b), number(row.cells), number(row.a_wins), number(row.b_wins), number(row.ties), interval({ ...row, value: row.ratio }), number(row.p_adjusted),
    ])),
    h('h2', {}, 'Programs'),
    grid(['arm', 'loads', 'protocol', 'server', 'client', 'congestion control', 'connection'], programs.map((row) => [
      armLabel(study, row.arm), number(row.n), row.protocol, `${row.server} ${row.server_version || ''}`, `${row.client} ${row.client_version || ''}`, row.congestion_control, row.connection,
    ])));
}

/**
 * @param {Route} route
 * @param {Study} study
 */
async function loadsTab(route, study) {
  const { status: wanted = '', arm: one = '' } = route.choices;
  const { column } = study.metric;
  const cells = new Set(filteredCells(route, study).map((cell) => cell.name));
  const planned = new Set(study.plan_cells.map((cell) => cell.name));
  const rows = howquick.rows(study.runs).filter((row) => (cells.has(row.cell) || !planned.has(row.cell)) && endedAs(row, wanted) && (!one || row.arm === one));
  const arms = [...new Set(howquick.column(study.runs, 'arm'))];
  const failures = howquick.rows(study.tables.failures);
  /** @type {DataColumn<Row>[]} */
  const columns = [
    { name: 'cell', head: 'cell', value: (row) => row.cell, cell: (row) => link([study.study, row.cell], row.cell) },
    { name: 'arm', head: 'arm', value: (row) => armLabel(study, row.arm) },
    { name: 'repetition', head: 'repetition', value: (row) => row.repetition, cell: (row) => link([study.study, row.cell, row.arm, String(row.repetition)], String(row.repetition)) },
    { name: 'status', head: 'status', value: (row) => row.status, cell: (row) => statusBadge(row.status) },
    { name: column, head: withUnit(study.metric), value: (row) => row[column], cell: (row) => number(row[column]) },
  ];
  return h('div', {},
    h('div', { class: 'controls' },
      choice('status', [['', 'all'], ...statusChoices(study)], wanted, (status) => choose(route, { status })),
      choice('arm', [['', 'all'], ...arms.map((name) => [name, armLabel(study, name)])], one, (arm) => choose(route, { arm })),
      levelFilters(route, study), findBox(route, 'loads with')),
    h('p', { class: 'quiet' }, `${rows.length} loads`),
    dataTable(route, columns, rows, { class: 'loads', 'aria-label': 'loads' }),
    failures.length ? [h('h2', {}, 'What did not finish'), grid(['cell', 'arm', 'status', 'reason', 'loads'], failures.map((row) => [link([study.study, row.cell], row.cell), armLabel(study, row.arm), statusBadge(row.status), row.reason, `${row.n} of ${row.of}`]))] : null);
}

/**
 * @param {Route} route
 * @param {Study} study
 */
async function aboutTab(route, study) {
  const paper = study.paper;
  return h('div', {},
    paper ? h('p', {}, citation(paper)) : null,
    facts([['seed', String(study.seed)], ['repetitions', String(study.repetitions)], ['limit of a load', seconds(study.timeout_s)], ...Object.entries(study.fixed || {}).map(([key, value]) => [key.replaceAll('_', ' '), String(value)])]),
    study.differences.length ? [h('h2', {}, 'Where it departs from the paper'), grid(['paper', 'here', 'why'], study.differences.map((row) => [row.paper, row.here, row.why]), { class: 'prose' })] : null);
}
