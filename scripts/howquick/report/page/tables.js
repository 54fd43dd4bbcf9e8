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

// A table of thousands of rows takes seconds to lay out: it is whole when asked for.
const MOST_ROWS = 100;

/**
 * @param {Route} route
 * @param {Row[]} rows
 */
function shownRows(route, rows) {
  return route.choices.rows === 'all' ? rows : rows.slice(0, MOST_ROWS);
}

/**
 * @param {Route} route
 * @param {Row[]} rows
 */
function theRest(route, rows) {
  if (shownRows(route, rows).length === rows.length) return null;
  return h('p', {}, `The first ${MOST_ROWS} of ${rows.length}. `, link(route.parts, `Show all ${rows.length}`, { ...route.choices, rows: 'all' }));
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
  return [theRest(route, rows), grid(['arm', 'repetition', 'status', withUnit(metric), 'attempts', 'lost down', 'lost up', 'sent again', 'details'], shownRows(route, rows).map((row) => [
    armLabel(study, row.arm), h('a', { href: loadRoute(study, name, row) }, String(row.repetition)), statusBadge(row.status), number(row[metric.column]), number(row.attempts), number(row.capture_lost_down), number(row.capture_lost_up), number(row.retransmitted_packets), detailed.has(row.index) ? 'yes' : 'its row only',
  ]), { class: 'loads' })];
}
