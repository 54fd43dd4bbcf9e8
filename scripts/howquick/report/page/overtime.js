// One load over time, or two on one axis: bytes, window and bytes in flight, round trip.
'use strict';

/** @type {Record<string, string>} */
const EVENTS = { sent: COLOURS[0], received: COLOURS[2], acknowledged: COLOURS[5], retransmitted: COLOURS[1], lost: COLOURS[4] };
const WINDOWS = [['cwnd_bytes', 'congestion window', COLOURS[0]], ['bytes_in_flight', 'in flight', COLOURS[1]], ['ssthresh_bytes', 'slow-start threshold', COLOURS[7]]];
const SOURCES = [['qlog', 'the server\'s qlog'], ['capture', 'the capture']];

/**
 * Bytes on the way down over time: what the capture tells of each event, else what the client's end tells.
 * @param {Detail} detail
 * @returns {Line[]}
 */
function byteLines(detail) {
  const series = howquick.rows(detail.series);
  const events = howquick.rows(detail.transport).filter((event) => event.direction === 'down' && event.source === 'capture');
  return Object.entries(EVENTS).map(([name, colour]) => {
    const own = events.filter((event) => event.event === name).map((event) => pair(event.time_s, event.total_bytes));
    const told = own.length ? own : series.map((point) => pair(point.time_s, point[`${name}_bytes`]));
    return { name, label: name, colour, points: told.filter(([, value]) => finite(value)) };
  }).filter(({ points }) => points.length);
}

/**
 * What is known of the sender, by each source that tells it: a line per quantity and source, for the two do not agree.
 * @param {Detail} detail
 * @returns {Line[]}
 */
function windowLines(detail) {
  const rows = howquick.rows(detail.window);
  return WINDOWS.flatMap(([column, label, colour]) => SOURCES.map(([source, words]) => ({
    name: `${column} ${source}`, label: `${label} by ${words}`, colour, dashed: source === 'capture',
    points: rows.filter((row) => row.source === source && finite(row[column])).map((row) => pair(row.time_s, row[column])),
  }))).filter(({ points }) => points.length);
}

/**
 * @param {Detail} detail
 * @returns {Line[]}
 */
function tripLines(detail) {
  const rows = howquick.rows(detail.window);
  return SOURCES.map(([source, words]) => ({
    name: `smoothed_rtt_ms ${source}`, label: `by ${words}`, colour: COLOURS[3], dashed: source === 'capture',
    points: rows.filter((row) => row.source === source && finite(row.smoothed_rtt_ms)).map((row) => pair(row.time_s, row.smoothed_rtt_ms)),
  })).filter(({ points }) => points.length);
}

/** @type {[string, (detail: Detail) => Line[], string, number, string][]} title, lines, unit, height, what is said where there are none */
const OVER_TIME = [
  ['Bytes over time', byteLines, 'bytes', 320, 'They are not in this folder.'],
  ['Window and bytes in flight', windowLines, 'bytes', 260, 'The sender\'s window is taken for the first repetition of each arm.'],
  ['Round trip, smoothed, by the server', tripLines, 'ms', 220, 'No log of this load has it.'],
];

/**
 * All drawings have one time axis, and are closer or farther together.
 * @param {Study} study
 * @param {Loaded} mine
 * @param {Loaded | null} other
 */
function overTime(study, mine, other) {
  const drawn = OVER_TIME.map(([title, lines, unit, height, without]) => ({
    title, unit, height, without, own: lines(mine.detail), beside: other ? lines(other.detail).map((line) => ({ ...line, label: `${line.label}: ${loadName(study, other.row)}`, beside: true })) : [],
  }));
  const times = drawn.flatMap(({ own, beside }) => [...own, ...beside].flatMap(({ points }) => points.map(([x]) => x)));
  const [, end] = extent(times, { zero: true });
  const group = timeGroup(end);
  const sections = drawn.map(({ title, unit, height, without, own, beside }) => {
    if (!own.length && !beside.length) return nothing(title, without);
    const missing = other && !beside.length ? `Nothing of it is known of ${loadName(study, other.row)}.` : own.length ? null : `Nothing of it is known of ${loadName(study, mine.row)}.`;
    return h('section', { class: 'over-time' }, h('h2', {}, title), missing ? h('p', { class: 'quiet' }, missing) : null, group.chart([...own, ...beside], { unit, height, label: title }));
  });
  return [times.length ? group.controls : null, sections];
}

/**
 * @param {Study} study
 * @param {Row} row
 */
function loadName(study, row) {
  return `${armLabel(study, row.arm)}, repetition ${row.repetition}`;
}
