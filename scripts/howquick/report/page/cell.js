// One cell: all loads of all arms, two arms side by side, its link, the order, what failed or was disturbed.
'use strict';

const DOT_ROW = 30;
const MANY_ARMS = 20;

/**
 * @param {Study} study
 * @param {string} name
 */
async function cellData(study, name) {
  const number = study.cell_names.indexOf(name);
  if (number < 0 || !study.measured.includes(name)) throw new Error(`No load of cell ${name} is in this report.`);
  /** @type {CellPage} */
  const page = await howquick.load(`${study.study}/c${number}`);
  howquick.rows(page.runs).forEach((row, index) => { row.index = index; });
  return { number, page, rows: howquick.rows(page.runs) };
}

/** @param {Route} route */
async function cellPage(route) {
  const [studyName, name] = route.parts;
  /** @type {Study} */
  const study = await howquick.load(`${studyName}/study`);
  const { page, rows } = await cellData(study, name);
  document.title = `${name} – ${study.title}`;
  const metric = cellMetric(route, study, rows);
  const known = study.plan_arms.map((arm) => arm.name).filter((arm) => rows.some((row) => row.arm === arm));
  known.push(...new Set(rows.map((row) => String(row.arm)).filter((arm) => !known.includes(arm))));
  const arms = shownArms(route, study, known);
  const cell = cellOf(study, name);
  return h('div', {},
    crumbs(study, [name]), h('h1', {}, cellTitle(study, name)),
    neighbours(study, name),
    facts([['cell', h('code', {}, name)], ['loads', String(rows.length)], ['clock', [...new Set(rows.map((row) => row.clock || 'real'))].join(', ')], ...Object.entries(cell.link || {}).map(([key, value]) => [key.replaceAll('_', ' '), String(value)])]),
    h('div', { class: 'controls' }, choice('metric', metricChoices(study), metric.column, (column) => choose(route, { metric: column === study.metric.column ? '' : column })),
      choice('axis', [['', 'from 0'], ['fit', 'what was measured'], ['log', 'logarithmic']], route.choices.axis || '', (axis) => choose(route, { axis })),
      known.length > MANY_ARMS ? choice('arms', [['', 'of the comparison'], ['all', `all ${known.length}`]], route.choices.arms || '', (some) => choose(route, { arms: some })) : null),
    h('h2', {}, `${metric.label}: every load`),
    distributions(route, study, name, rows, arms, metric),
    armTable(route, study, name, arms, metric, rows),
    sideBySide(route, study, name, rows, arms, metric),
    h('h2', {}, 'Order of measurement'), orderPlot(study, name, rows.filter((row) => arms.includes(row.arm)), metric),
    troubles(route, study, name, rows),
    linkSection(page.calibration),
    cellClaims(study, name),
    h('h2', {}, 'All loads'), loadTable(route, study, name, rows, metric, page));
}

/**
 * Of very many arms those that the study compares, and the one that a link asks for.
 * @param {Route} route
 * @param {Study} study
 * @param {string[]} known
 */
function shownArms(route, study, known) {
  const some = known.filter((arm) => study.comparison.arms.includes(arm) || arm === route.choices.arm);
  return known.length > MANY_ARMS && some.length && route.choices.arms !== 'all' ? some : known;
}

/**
 * @param {Study} study
 * @param {string[]} parts
 */
function crumbs(study, parts) {
  const names = [study.study, ...parts];
  return h('nav', { class: 'crumbs', 'aria-label': 'where this is' }, link([], 'studies'), names.map((text, index) => [' › ', index === names.length - 1 ? h('span', { 'aria-current': 'page' }, text) : link(names.slice(0, index + 1), text)]));
}

/**
 * @param {Study} study
 * @param {string} name
 */
function neighbours(study, name) {
  const at = study.measured.indexOf(name);
  const [before, after] = [study.measured[at - 1], study.measured[at + 1]];
  return h('p', { class: 'neighbours' }, before ? link([study.study, before], `← ${before}`) : null, ' ', after ? link([study.study, after], `${after} →`) : null);
}

/**
 * @param {Route} route
 * @param {Study} study
 * @param {Row[]} rows
 */
function cellMetric(route, study, rows) {
  const column = route.choices.metric;
  if (!column || column === study.metric.column || !rows.some((row) => finite(row[column]))) return study.metric;
  return { column, label: column.replaceAll('_', ' '), short: column, unit: '' };
}

/**
 * @param {Study} study
 * @param {string} cell
 * @param {Row} row
 */
function loadRoute(study, cell, row) {
  return routeTo([study.study, cell, row.arm, String(row.repetition)]);
}

/**
 * @param {Study} study
 * @param {Row} row
 * @param {Metric} metric
 */
function loadTitle(study, row, metric) {
  const value = finite(row[metric.column]) ? `${short(row[metric.column])} ${metric.unit || ''}` : row.reason || row.extract_note || 'no number';
  return `${armLabel(study, row.arm)}, repetition ${row.repetition}: ${row.status}, ${value}`;
}

/**
 * One row per arm: each load a point, the median, and its interval where the statistics give one.
 * @param {Route} route
 * @param {Study} study
 * @param {string} name
 * @param {Row[]} rows
 * @param {string[]} arms
 * @param {Metric} metric
 */
function distributions(route, study, name, rows, arms, metric) {
  const own = metric.column === study.metric.column;
  const usable = rows.filter((row) => finite(row[metric.column]));
  if (!usable.length) return h('p', { class: 'empty' }, 'No load of this cell has a number.');
  const width = room();
  const log = route.choices.axis === 'log' && usable.every((row) => row[metric.column] > 0);
  const found = extent(usable.map((row) => row[metric.column]), { zero: !log && route.choices.axis !== 'fit' });
  // An interval of few loads can reach far beyond them all: it is cut where the drawing ends.
  const [least, most] = log ? [Math.max(found[0], Math.min(...usable.map((row) => row[metric.column])) * 0.95), found[1]] : found;
  const slow = slowestOf(rows, study);
  const places = arms.map((_, index) => index);
  const summaries = own ? places.map((place) => ({ place, colour: armStyle(study, arms[place]).colour, row: summaryOf(study).get(`${name} ${arms[place]}`) || {} })) : [];
  const medians = summaries.filter(({ row }) => finite(row.median));
  /** @type {Point[]} */
  const points = usable.filter((row) => arms.includes(row.arm)).map((row) => ({
    x: row[metric.column], y: arms.indexOf(row.arm) + (((row.repetition * 7) % 5) - 2) / DOT_ROW, ...armStyle(study, row.arm), size: row === slow ? 6.5 : 4.5, hollow: row.status !== 'ok', edge: row === slow ? 'currentColor' : null,
    href: () => loadRoute(study, name, row), title: () => loadTitle(study, row, metric) + (row === slow ? ' – the slowest load of the cell' : ''),
  }));
  /** @type {Chart} */
  const given = {
    label: `${metric.label} of every load by arm`, width, height: arms.length * DOT_ROW + 54, left: Math.min(230, Math.max(110, width * 0.3)), x: { domain: [least, most], log, label: withUnit(metric) },
    y: rowAxis(places, arms.map((arm) => armLabel(study, arm)), [arms.length - 0.5, -0.5]),
    marks: [
      Plot.ruleY(summaries.filter(({ row }) => finite(row.low) && finite(row.high)), { x1: ({ row }) => Math.max(row.low, least), x2: ({ row }) => Math.min(row.high, most), y: 'place', stroke: 'colour', strokeWidth: 8, className: 'range' }),
      Plot.ruleX(medians, { x: ({ row }) => row.median, y1: ({ place }) => place - 0.37, y2: ({ place }) => place + 0.37, className: 'median', ...told(medians, ({ row }) => ({ title: `median ${short(row.median)}` })) }),
    ],
  };
  return h('div', { class: 'scroll' }, withPoints(given, points), slow && own ? h('p', {}, 'Slowest load: ', h('a', { href: loadRoute(study, name, slow), class: 'slowest' }, loadTitle(study, slow, study.metric))) : null);
}

/**
 * The load that took longest by the study's metric; of a rate the lowest.
 * @param {Row[]} rows
 * @param {Study} study
 */
function slowestOf(rows, study) {
  const { column } = study.metric;
  const worth = (/** @type {Row} */ row) => (column.endsWith('_mbit') ? -row[column] : row[column]);
  const finished = rows.filter((row) => row.status === 'ok' && finite(row[column]));
  return finished.reduce((slow, row) => (!slow || worth(row) > worth(slow) ? row : slow), /** @type {Row | null} */ (null));
}

/**
 * @param {Route} route
 * @param {Study} study
 * @param {string} name
 * @param {string[]} arms
 * @param {Metric} metric
 * @param {Row[]} rows
 */
function armTable(route, study, name, arms, metric, rows) {
  const own = metric.column === study.metric.column;
  if (!own) return null;
  const checks = new Map(howquick.rows(study.tables.checks).map((row) => [`${row.cell} ${row.arm}`, row]));
  const virtual = rows.some((row) => row.clock === 'virtual');
  const table = grid(['arm', 'loads', 'median', 'mean', 'least', 'most', 'variation', 'not ok', 'repetitions needed', ...(virtual ? ['processor'] : []), 'remarks'], arms.map((arm) => {
    const row = summaryOf(study).get(`${name} ${arm}`) || {};
    const bad = ['failed', 'timeout', 'invalid'].filter((key) => row[key]).map((key) => `${row[key]} ${key}`).join(', ');
    const check = checks.get(`${name} ${arm}`) || {};
    const remarks = [check.several_modes === 'TRUE' && 'several modes', check.drifts === 'TRUE' && 'drifts', check.sessions_differ === 'TRUE' && 'sessions differ', row.mean_is_bound === 'TRUE' && 'mean is a lower bound'].filter(Boolean).join(', ');
    return { properties: { 'data-arm': arm }, cells: [armLabel(study, arm), number(row.n), h('span', { class: 'nowrap' }, interval(row)), number(row.mean), number(row.min), number(row.max), finite(row.cv) ? `${short(100 * row.cv)} %` : '—', bad || '0', number(row.repetitions_needed), ...(virtual ? [h('span', { class: 'nowrap' }, processorText(row))] : []), remarks] };
  }), { 'aria-label': `${metric.label} by arm`, class: 'summary' });
  return virtual ? [table, h('p', { class: 'quiet' }, 'Processor: what server and client used in a load of the same page by the real clock, which virtual time leaves out. ' + COSTLY_KEY)] : table;
}

/**
 * Processor time of a load, which virtual time leaves out, and its share of the load.
 * @param {Row} row
 */
function processorText(row) {
  if (!finite(row.processor_s)) return '—';
  return `${short(1000 * row.processor_s)} ms${finite(row.processor_share) ? ` (${short(100 * row.processor_share)} %)${isCostly(row) ? ` ${COSTLY}` : ''}` : ''}`;
}

/**
 * @param {Route} route
 * @param {Study} study
 * @param {string} name
 * @param {Row[]} rows
 * @param {string[]} arms
 * @param {Metric} metric
 */
function sideBySide(route, study, name, rows, arms, metric) {
  if (arms.length < 2) return null;
  const pair = study.comparison.pairs.find(([a, b]) => arms.includes(a) && arms.includes(b)) || arms;
  const a = arms.includes(route.choices.a) ? route.choices.a : pair[0];
  const b = arms.includes(route.choices.b) ? route.choices.b : pair[1];
  const options = arms.map((arm) => [arm, armLabel(study, arm)]);
  const row = comparisonOf(study).get(`${name} ${a} ${b}`);
  const curves = [a, b].map((arm) => ecdfCurve(study, name, arm, rows, metric)).filter(isThere);
  const said = row && metric.column === study.metric.column
    ? facts([['ratio of medians', h('span', {}, interval({ ...row, value: row.ratio }))], ['difference', percent(row.difference_percent)], ['shift', interval({ value: row.shift, low: row.shift_low, high: row.shift_high }, metric.unit)], ['by the paper\'s rule', row.rule === 'tie' ? 'tie' : armLabel(study, row.rule || '')], ['test', row.test], ['p', number(row.p)], ['p adjusted', number(row.p_adjusted)]])
    : h('p', { class: 'quiet' }, 'The study compares other pairs: the distributions alone.');
  return h('section', {}, h('h2', {}, 'Two arms side by side'),
    h('div', { class: 'controls' }, choice('first', options, a, (value) => choose(route, { a: value, b })), choice('second', options, b, (value) => choose(route, { a, b: value }))),
    said, legend([a, b].map((arm) => ({ label: armLabel(study, arm), ...armStyle(study, arm) }))), ecdf(study, curves, metric, { width: Math.min(room(), 720), axis: ecdfAxis([curves]) }));
}

/**
 * @param {Study} study
 * @param {string} name
 * @param {Row[]} rows
 * @param {Metric} metric
 */
function orderPlot(study, name, rows, metric) {
  const some = rows.filter((row) => finite(row[metric.column]));
  if (!some.length) return h('p', { class: 'empty' }, 'No numbers.');
  const arms = [...new Set(some.map((row) => row.arm))];
  const inOrder = [...rows].sort((p, q) => (p.started ?? 0) - (q.started ?? 0) || p.repetition - q.repetition || p.order - q.order);
  const points = inOrder.map((row, index) => ({ row, x: index + 1, y: row[metric.column] })).filter(({ y }) => finite(y))
    .map(({ row, ...place }) => ({ ...place, ...armStyle(study, row.arm), size: 4, href: () => loadRoute(study, name, row), title: () => loadTitle(study, row, metric) }));
  const x = { domain: pair(0, rows.length + 1), label: 'load, in the order of measurement' };
  const y = { domain: extent(some.map((row) => row[metric.column]), { zero: true }), label: withUnit(metric) };
  const given = { label: 'order of measurement', width: Math.min(room(), 900), height: 260, x, y, marks: [] };
  return h('div', {}, legend(arms.map((arm) => ({ label: armLabel(study, arm), ...armStyle(study, arm) }))), h('div', { class: 'scroll' }, withPoints(given, points)));
}
