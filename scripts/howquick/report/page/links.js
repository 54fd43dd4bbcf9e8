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
  const left = above ? 12 : 240;
  const each = above ? 2 * LINK_ROW : LINK_ROW;
  const height = links.length * each + 44;
  const widest = Math.max(...rows.flatMap((row) => [row.deviation, row.from, row.to]).filter(finite).map(Math.abs), 0) || 1;
  const X = scale([-1.06 * widest, 1.06 * widest], [left, width - 12], { ticks: Math.max(3, Math.floor((width - left) / 90)) });
  const svg = s('svg', { viewBox: `0 0 ${width} ${height}`, width, height, class: 'plot', role: 'img', 'aria-label': title });
  for (const tick of X.ticks) {
    svg.append(s('line', { class: tick === 0 ? 'axis' : 'gridline', x1: X(tick), x2: X(tick), y1: 0, y2: height - 40 }), s('text', { x: X(tick), y: height - 24, 'text-anchor': 'middle' }, short(tick)));
  }
  svg.append(s('text', { class: 'axis-label', x: (left + width) / 2, y: height - 6, 'text-anchor': 'middle' }, title));
  const middle = (/** @type {number} */ index) => (index + 1) * each - LINK_ROW / 2;
  const letters = Math.floor((above ? width : left) / 6.6);
  links.forEach((one, index) => {
    const text = linkLabel(one);
    svg.append(s('text', { class: 'row-label', x: above ? 0 : left - 8, y: middle(index) + (above ? 2 - LINK_ROW * 0.75 : 4), 'text-anchor': above ? 'start' : 'end' }, s('title', {}, `${one.name}: ${text}`), text.length > letters ? `${text.slice(0, letters - 1)}…` : text));
  });
  for (const { link: one, check, deviation, from, to } of rows.filter((row) => finite(row.deviation))) {
    const direction = check.direction || 'both';
    const colour = DIRECTION_COLOURS[direction];
    const y = middle(links.indexOf(one)) + { up: -4, down: 4, both: 0 }[direction];
    if (from !== null && to !== null) svg.append(s('line', { x1: X(from), x2: X(to), y1: y, y2: y, stroke: colour, 'stroke-width': 1.5 }));
    const said = `${linkLabel(one)}, ${direction}: asked ${short(check.asked)}, measured ${short(check.measured)}, ${check.verdict}`;
    const shape = check.verdict === 'pass' ? mark('circle', X(deviation), y, 3.5, { fill: colour }) : s('text', { class: 'cross', x: X(deviation), y: y + 5, 'text-anchor': 'middle' }, '×');
    svg.append(s('g', {}, s('title', {}, said), shape));
  }
  return svg;
}
