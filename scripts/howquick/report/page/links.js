// What calibration measured of the links against what was asked for.
'use strict';

// As R/read/calibration.R calls them.
/** @type {Record<string, string>} */
const QUANTITIES = {
  rtt_ms: 'RTT (ms)', rate_mbit: 'Rate (Mbit/s)', loss_percent: 'Loss (%)', queue_ms: 'Queue (ms)', reordered: 'Reordered packets', burst_bytes: 'Burst (bytes)',
  delay_ms: 'One-way delay (ms)', jitter_ms: 'Deviation of the delay (ms)', reorder_percent: 'Packets without delay (%)', loss_after_loss_percent: 'Loss after a loss (%)',
  aqm_delay_ms: 'Queue at the first signal (ms)', l4s_delay_ms: 'Low latency queue at the first mark (ms)', marked: 'Marked packets', path_mtu_bytes: 'Path MTU (bytes)',
  trace_mbit: 'Rate over a trace (Mbit/s)', trace_window_frames: 'Largest deviation in a window of a trace (frames)',
};
// Those that must only stay within a bound: nothing was asked for that they could deviate from.
const BOUNDED = ['aqm_delay_ms', 'l4s_delay_ms', 'marked', 'trace_window_frames'];
/** @type {Record<string, string>} */
const DIRECTION_COLOURS = { both: COLOURS[7], up: COLOURS[1], down: COLOURS[0] };
const LINK_ROW = 24;

/**
 * Of a trace its name: what follows is the hash of what it holds.
 * @param {string} key
 * @param {unknown} value
 */
function traceName(key, value) {
  return key.startsWith('rate_trace') ? `${value}`.replace(/@.*/, '') : `${value}`;
}

/** @param {Link} made */
function linkLabel({ link: made }) {
  const rate = made.bandwidth_mbit === 'unshaped' || made.bandwidth_mbit === undefined ? 'unshaped' : `${made.bandwidth_mbit} Mbit/s`;
  const more = Object.entries(made).filter(([key]) => !['bandwidth_mbit', 'rtt_ms', 'loss_percent', 'queue_bytes', 'queue_ms', 'mtu_bytes'].includes(key));
  return [rate, `${made.rtt_ms} ms`, `${made.loss_percent} %`, ...more.map(([key, value]) => `${key.replaceAll('_', ' ')} ${traceName(key, value)}`)].join(', ');
}

/**
 * In percent of the asked, or absolute where nothing was asked for: panel → [{link, check, deviation, from, to}].
 * @param {Link[]} links
 */
function deviations(links) {
  const found = new Map();
  for (const one of links) {
    for (const check of one.checks.filter(({ quantity }) => !BOUNDED.includes(quantity))) {
      const factor = check.asked === 0 ? 1 : 100 / check.asked;
      const from = (/** @type {number | null | undefined} */ value) => (finite(value) ? (value - check.asked) * factor : null);
      const label = QUANTITIES[check.quantity] || check.quantity;
      const [name, unit] = [label.replace(/ \(.*/, ''), (label.match(/\((.*)\)/) || [])[1]];
      const panel = check.asked === 0 ? (unit ? `${name} where none was asked (${unit})` : `${name} (count)`) : `${name} (% of asked)`;
      if (!found.has(panel)) found.set(panel, []);
      found.get(panel).push({ link: one, check, deviation: from(check.measured), from: from(check.low), to: from(check.high) });
    }
  }
  return found;
}

/** @param {Study} study */
function calibrationFigure(study) {
  const links = [...study.links].sort((p, q) => (Number(p.link.bandwidth_mbit) || Infinity) - (Number(q.link.bandwidth_mbit) || Infinity) || p.link.rtt_ms - q.link.rtt_ms || p.link.loss_percent - q.link.loss_percent);
  if (!links.length) return h('p', { class: 'empty' }, 'No link was calibrated, or its calibration is not in this folder.');
  const list = [...deviations(links)].map(([title, rows]) => ({ title, content: deviationPlot(title, links, rows) }));
  /** @type {Entry[]} */
  const entries = Object.entries(DIRECTION_COLOURS).map(([label, colour]) => ({ label, colour, mark: 'circle' }));
  return h('div', {}, h('p', { class: 'quiet' }, 'Measured minus asked, with the 99 % interval; a cross fails. Rows: rate, RTT, loss.'), legend(entries), panels(list));
}

/**
 * @param {string} title
 * @param {Link[]} links
 * @param {Deviation[]} rows
 */
function deviationPlot(title, links, rows) {
  const width = panelWidth(3, 380);
  // On a phone labels stand above their rows.
  const above = width < 420;
  const each = above ? 2 * LINK_ROW : LINK_ROW;
  const known = rows.filter((row) => finite(row.deviation));
  const widest = Math.max(...known.flatMap((row) => [row.deviation, row.from, row.to]).filter(finite).map(Math.abs), 0) || 1;
  const direction = (/** @type {Deviation} */ { check }) => check.direction || 'both';
  const place = (/** @type {Deviation} */ row) => links.indexOf(row.link) + ({ up: -4, down: 4 }[direction(row)] ?? 0) / each;
  const colour = (/** @type {Deviation} */ row) => DIRECTION_COLOURS[direction(row)];
  const said = (/** @type {Deviation} */ row) => ({ title: `${linkLabel(row.link)}, ${direction(row)}: asked ${short(row.check.asked)}, measured ${short(row.check.measured)}, ${row.check.verdict}` });
  const passed = (/** @type {Deviation} */ row) => row.check.verdict === 'pass';
  const [good, bad] = [known.filter(passed), known.filter((row) => !passed(row))];
  const labels = links.map(linkLabel);
  const places = links.map((_, index) => index);
  const end = 1.06 * widest;
  return chart({
    label: title, width, height: links.length * each + 52, left: above ? 12 : 240, x: { domain: [-end, end], label: title },
    y: { ...rowAxis(places, above ? places.map(() => '') : labels, above ? [links.length - 0.7, -0.7] : [links.length - 0.5, -0.5]), bare: true },
    marks: [
      Plot.ruleX([0], { className: 'axis' }),
      above ? Plot.text(labels, { x: () => -end, y: (_, index) => index - 0.36, text: (label) => label, textAnchor: 'start', className: 'row-label', lineWidth: width / 12 / LETTER_SHARE, textOverflow: 'ellipsis' }) : null,
      Plot.ruleY(known.filter(({ from, to }) => from !== null && to !== null), { x1: 'from', x2: 'to', y: place, stroke: colour, strokeWidth: 1.5 }),
      Plot.dot(good, { x: 'deviation', y: place, r: 3.5, fill: colour, ...told(good, said) }),
      Plot.text(bad, { x: 'deviation', y: place, text: () => '×', className: 'cross', ...told(bad, said) }),
    ],
  });
}
