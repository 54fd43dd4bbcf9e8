// Bytes and the sender's state over time, the protocols of a server overlaid.
'use strict';

// Panels of very different length would hide the short ones (R/figures/kinds/bytes.R).
const LONGEST_AXIS_RATIO = 4;
const SINCE_FIRST_PACKET = 'seconds since the client\'s first packet';

/** What of a sender is drawn, and which end's record says it (R/figures/kinds/window.R). */
const SENDER = [
  { column: 'cwnd_bytes', source: 'qlog', label: 'congestion window (kB)', divisor: 1000 },
  { column: 'bytes_in_flight', source: 'capture', label: 'in flight (kB)', divisor: 1000 },
  { column: 'delivery_rate_mbit', source: 'capture', label: 'delivered (Mbit/s)', divisor: 1 },
  { column: 'estimate_mbit', source: 'qlog', label: 'estimated (Mbit/s)', divisor: 1 },
];
// What a log calls its sender's estimate; where it does not, the pacing rate, which follows from it.
const ESTIMATES = ['delivery_rate_mbit', 'pacing_rate_mbit'];

/**
 * The column of a log that tells its sender's estimate.
 * @param {Row[]} items
 */
function estimateColumn(items) {
  return ESTIMATES.find((column) => items.some((item) => item.source === 'qlog' && item[column] > 0)) || '';
}

/**
 * [seconds, value] of one quantity of the table `window`.
 * @param {Row[]} items
 * @param {{ column: string, source: string, divisor: number }} quantity
 * @returns {Pair[]}
 */
function windowPoints(items, { column, source, divisor }) {
  const from = column === 'estimate_mbit' ? estimateColumn(items) : column;
  return items.filter((item) => item.source === source && finite(item[from])).map((item) => pair(item.time_s, item[from] / divisor));
}

/**
 * Panels of the arms of one server in one cell.
 * @param {Study} study
 * @param {Shown[]} found
 */
function groupPanels(study, found) {
  const cells = [...new Set(found.map(({ cell }) => cell))].map((cell) => cellOf(study, cell));
  const names = varying(study, cells);
  const group = (/** @type {string} */ arm) => (study.plan_arms.find((one) => one.name === arm) || { group: arm }).group || arm;
  return [...Map.groupBy(found, ({ cell, arm }) => `${cell} ${group(arm)}`).values()].map((some) => ({
    title: [group(some[0].arm), ' ', link([study.study, some[0].cell], names.length ? cellTitle(study, some[0].cell, names) : 'its cell')], some,
  }));
}

/**
 * Lines are told apart by protocol; by arm where a panel has two of one protocol.
 * @param {Study} study
 * @param {{ some: Shown[] }[]} list
 */
function lineStyles(study, list) {
  const protocol = (/** @type {string} */ arm) => String((study.plan_arms.find((one) => one.name === arm) || {}).protocol || arm);
  const arms = [...new Set(list.flatMap(({ some }) => some.map(({ arm }) => arm)))];
  const twice = list.some(({ some }) => new Set(some.map(({ arm }) => protocol(arm))).size < some.length);
  const keys = twice ? arms : [...new Set(['h3', 'h2', 'h1', ...arms.map(protocol)])].filter((name) => arms.some((arm) => protocol(arm) === name));
  const at = (/** @type {string} */ arm) => keys.indexOf(twice ? arm : protocol(arm));
  return {
    style: (/** @type {string} */ arm) => ({ stroke: COLOURS[at(arm) % COLOURS.length], strokeDasharray: DASHES[at(arm) % DASHES.length] }),
    legend: legend(keys.map((key, index) => ({ label: twice ? armLabel(study, key) : protocolLabel(key), colour: COLOURS[index % COLOURS.length] }))),
  };
}

/**
 * @param {Study} study
 * @param {Figure} figure
 */
async function bytesFigure(study, figure) {
  const all = await figureDetails(study, figure, 'series');
  const found = all.map((one) => ({ ...one, items: one.items.filter((item) => finite(item.acknowledged_bytes)) })).filter(({ items }) => items.length);
  if (!found.length) return noDetails();
  const list = groupPanels(study, found);
  const { style, legend: entries } = lineStyles(study, list);
  const lines = (/** @type {Shown} */ one) => one.items.map((item) => pair(item.time_s, item.acknowledged_bytes / 1e6));
  const end = (/** @type {Shown[]} */ some) => Math.max(...some.flatMap((one) => one.items.map((item) => item.time_s)));
  const ends = list.map(({ some }) => end(some));
  const free = Math.max(...ends) > LONGEST_AXIS_RATIO * Math.min(...ends);
  const y = { domain: extent(found.flatMap((one) => lines(one).map(([, value]) => value)), { zero: true }), label: 'acknowledged bytes (MB)' };
  const drawn = list.map(({ title, some }, index) => ({ title, content: chart({
    label: figureTitle(figure), width: panelWidth(list.length), height: 260, x: { domain: [0, 1.03 * (free ? ends[index] : Math.max(...ends))], label: SINCE_FIRST_PACKET }, y,
    marks: some.map((one) => lineMark(lines(one), style(one.arm), { 'data-arm': one.arm, 'data-cell': one.cell })),
  }) }));
  return h('div', {}, entries, panels(drawn), loadsShown(found), free ? h('p', { class: 'quiet' }, 'The time axes differ.') : null);
}

/**
 * @param {Study} study
 * @param {Figure} figure
 */
async function windowFigure(study, figure) {
  const found = await figureDetails(study, figure, 'window');
  const quantities = SENDER.map((quantity) => ({ quantity, lines: found.map((one) => ({ ...one, points: windowPoints(one.items, quantity) })).filter(({ points }) => points.length) })).filter(({ lines }) => lines.length);
  if (!quantities.length) return noDetails();
  const list = groupPanels(study, found);
  const { style, legend: entries } = lineStyles(study, list);
  const x = { domain: extent(found.flatMap(({ items }) => items.map((item) => item.time_s)), { zero: true, pad: 0.03 }), label: SINCE_FIRST_PACKET };
  const logged = new Set(found.filter(({ items }) => windowPoints(items, SENDER[0]).length).map(({ arm }) => arm));
  const silent = [...new Set(found.map(({ arm }) => arm))].filter((arm) => !logged.has(arm));
  const paced = found.filter(({ items }) => estimateColumn(items) === 'pacing_rate_mbit').map(({ arm }) => armLabel(study, arm));
  const drawn = list.map(({ title, some }) => ({ title, content: h('div', {}, quantities.map(({ quantity, lines }) => {
    const y = { domain: extent(lines.flatMap(({ points }) => points.map(([, value]) => value)), { zero: true }), label: quantity.label };
    const own = lines.filter(({ cell, arm }) => some.some((other) => other.cell === cell && other.arm === arm));
    const marks = own.map((one) => lineMark(one.points, style(one.arm), { 'data-arm': one.arm, 'data-cell': one.cell, 'data-quantity': quantity.column }));
    return chart({ label: `${figureTitle(figure)}: ${quantity.label}`, width: panelWidth(list.length), height: 190, x, y, marks });
  })) }));
  return h('div', {}, entries, panels(drawn), loadsShown(found),
    h('p', { class: 'quiet' }, 'Window and estimate: what the server\'s own log says; the rest: from its capture.', silent.length ? ` No log of a window: ${silent.map((arm) => armLabel(study, arm)).join(', ')}.` : '', paced.length ? ` Estimated: the pacing rate of the log, which has no other, of ${[...new Set(paced)].join(', ')}.` : ''));
}

/**
 * Which load of each arm is drawn.
 * @param {Shown[]} found
 */
function loadsShown(found) {
  const repetitions = [...new Set(found.map(({ row }) => row.repetition))];
  return h('p', { class: 'quiet' }, repetitions.length === 1 ? `Repetition ${repetitions[0]} of each arm.` : 'The first repetition of each arm that finished.');
}
