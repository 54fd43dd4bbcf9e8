// Tables of a cell: failures and disturbed loads, its link, the claims that rest on it, all loads.
'use strict';

/**
 * @param {Route} route
 * @param {Study} study
 * @param {string} name
 * @param {Row[]} rows
 */
function troubles(route, study, name, rows) {
  const failed = rows.filter((row) => row.status !== 'ok' || row.extract_note);
  const disturbed = rows.filter((row) => row.disturbed);
  const line = (/** @type {Row} */ row, /** @type {Child} */ why) => [h('a', { href: loadRoute(study, name, row) }, `${armLabel(study, row.arm)}, repetition ${row.repetition}`), statusBadge(row.status), why];
  return h('section', {}, h('h2', {}, 'Failures and disturbed loads'),
    failed.length + disturbed.length === 0 ? h('p', { class: 'quiet' }, 'None: every load finished, at the first attempt.') : null,
    failed.length ? [theRest(route, failed), grid(['load', 'status', 'why'], shownRows(route, failed).map((row) => line(row, [row.reason, row.extract_note].filter(Boolean).join('; '))))] : null,
    disturbed.length ? [theRest(route, disturbed), grid(['load', 'status', 'why attempts before did not count'], shownRows(route, disturbed).map((row) => line(row, `${row.attempts} attempts: ${row.disturbed}`)))] : null);
}

/** @param {Link | null} calibration */
function linkSection(calibration) {
  if (!calibration) return h('section', {}, h('h2', {}, 'Link'), h('p', { class: 'quiet' }, 'No calibration of its link is in this report.'));
  return h('section', {}, h('h2', {}, 'Link: asked and measured before the first load'),
    h('p', { class: 'quiet' }, `${calibration.name}, made by ${calibration.backend} ${calibration.backend_version || ''}`),
    grid(['quantity', 'direction', 'asked', 'measured', '99 % interval', 'tolerance', 'n', 'verdict'], (calibration.checks || []).map((check) => [
      check.quantity.replaceAll('_', ' '), check.direction, number(check.asked), number(check.measured), finite(check.low) ? `${short(check.low)} to ${short(check.high)}` : '—', number(check.tolerance), number(check.n), badge(check.verdict, check.verdict === 'pass' ? 'good' : 'bad'),
    ])));
}

/**
 * @param {Study} study
 * @param {string} name
 */
function cellClaims(study, name) {
  const rows = howquick.rows(study.claims).filter((row) => `${row.cells || ''} ${row.against || ''}`.split(' ').includes(name));
  if (!rows.length) return null;
  return h('section', {}, h('h2', {}, 'Claims that rest on this cell'), h('ul', {}, [...new Map(rows.map((row) => [row.claim, row])).values()].map((row) => h('li', {}, verdict(row.claim_verdict), ' ', link([study.study], row.text, { tab: 'claims' })))));
}

/**
 * @param {Route} route
 * @param {Study} study
 * @param {string} name
 * @param {Row[]} rows
 * @param {Metric} metric
 * @param {CellPage} page
 */
function loadTable(route, study, name, rows, metric, page) {
  const detailed = new Set(page.detailed);
  /** @type {(column: string, head: string) => DataColumn<Row>} */
  const numbers = (column, head) => ({ name: column, head, value: (row) => row[column], cell: (row) => number(row[column]) });
  /** @type {DataColumn<Row>[]} */
  const columns = [
    { name: 'arm', head: 'arm', value: (row) => armLabel(study, row.arm) },
    { name: 'repetition', head: 'repetition', value: (row) => row.repetition, cell: (row) => h('a', { href: loadRoute(study, name, row) }, String(row.repetition)) },
    { name: 'status', head: 'status', value: (row) => row.status, cell: (row) => statusBadge(row.status) },
    numbers(metric.column, withUnit(metric)), numbers('attempts', 'attempts'), numbers('capture_lost_down', 'lost down'), numbers('capture_lost_up', 'lost up'), numbers('retransmitted_packets', 'sent again'),
    { name: 'details', head: 'details', value: (row) => (detailed.has(row.index) ? 'yes' : 'its row only') },
  ];
  const once = columns.filter(({ name: column }, at) => columns.findIndex((other) => other.name === column) === at);
  return [h('div', { class: 'controls' }, findBox(route, 'loads with')), dataTable(route, once, rows, { class: 'loads', 'aria-label': 'all loads' })];
}
