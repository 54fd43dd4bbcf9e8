// The first packets of a load as a sequence diagram.
'use strict';

// As in R/figures/kinds/handshake.R: packets of one kind that follow each other so closely are one arrow; more arrows than these
// are the transfer itself.
const SAME_FLIGHT_S = 0.0015;
const SHOWN_FLIGHTS = 12;
// Height of a line of text, in pixels.
const FLIGHT_LETTER = 15;

/**
 * Packets as flights, with the times at both ends: the table has those at the client, the server is half of a round trip away.
 * @param {Row[]} items
 * @param {number} rtt milliseconds
 * @returns {Flight[]}
 */
function packetFlights(items, rtt) {
  /** @type {Flight[]} */
  const flights = [];
  /** @type {Row | null} */
  let before = null;
  for (const item of [...items].sort((a, b) => a.time_s - b.time_s)) {
    const same = before && before.direction === item.direction && before.label === item.label && item.time_s - before.time_s < SAME_FLIGHT_S;
    before = item;
    const last = flights.at(-1);
    if (same && last) {
      last.packets += 1;
      last.bytes += item.bytes;
      continue;
    }
    const client = 1000 * item.time_s;
    flights.push({ up: item.direction === 'up', label: String(item.label), packets: 1, bytes: item.bytes, client, server: client + (item.direction === 'up' ? rtt / 2 : -rtt / 2) });
  }
  return flights.slice(0, SHOWN_FLIGHTS);
}

/** @param {Flight} flight */
function flightText({ label, packets, bytes: size }) {
  return `${label}${packets > 1 ? ` ×${packets}` : ''}${size > 0 ? `, ${size} B` : ''}`;
}

/**
 * @param {Flight[]} flights
 * @param {number} width
 * @param {string} label
 */
function handshakePlot(flights, width, label) {
  const [client, server, top] = [Math.round(width * 0.58), width - 30, 26];
  const [begin, last] = extent([0, ...flights.flatMap((flight) => [flight.client, flight.server])], { pad: 0.02 });
  const letter = (last - begin) / (Math.max(230, flights.length * 19 + 60) - top - 16) * FLIGHT_LETTER;
  // Labels are where their packets are, moved down where they would cover each other.
  let least = -Infinity;
  const rows = flights.map((flight) => {
    least = Math.max(flight.client, least + letter);
    return { ...flight, text: flightText(flight), label_ms: least };
  });
  const end = Math.max(last, least + letter);
  const ends = [client, server];
  return drawing(label, {
    width, height: top + ((end - begin) / letter) * FLIGHT_LETTER + 16, marginTop: top, marginBottom: 16, marginLeft: 0, marginRight: 0,
    x: { domain: [0, width], range: [0, width], axis: null }, y: { domain: [end, begin], axis: null },
    marks: [
      Plot.gridY({ ticks: 5, insetLeft: client, insetRight: 30, className: 'gridline', strokeOpacity: 1 }),
      Plot.axisY({ ticks: 5, tickSize: 0, label: null, textAnchor: 'start', tickPadding: 0, tickFormat: (/** @type {number} */ tick) => `${short(tick)} ms` }),
      Plot.ruleX(ends, { className: 'axis' }), Plot.text(['client', 'server'], { text: (name) => name, x: (_, index) => ends[index], frameAnchor: 'top', dy: -14, className: 'end' }),
      Plot.link(rows, {
        x1: ({ up }) => ends[up ? 0 : 1], x2: ({ up }) => ends[up ? 1 : 0], y1: (row) => (row.up ? row.client : row.server), y2: (row) => (row.up ? row.server : row.client), markerEnd: 'arrow', className: 'flight',
        ...told(rows, (row) => ({
          class: row.up ? 'arrow' : 'arrow answer', 'data-direction': row.up ? 'up' : 'down', 'data-packets': row.packets, 'data-bytes': row.bytes, 'data-client': row.client, 'data-server': row.server, 'data-label': row.label,
          title: `${milliseconds(row.client / 1000)} at the client, ${row.up ? 'to' : 'from'} the server: ${row.text}`,
        })),
      }),
      Plot.link(rows, { x1: () => client - 3, x2: () => client - 10, y1: 'client', y2: 'label_ms', className: 'gridline' }),
      Plot.text(rows, { x: () => client - 13, y: 'label_ms', text: 'text', textAnchor: 'end', className: 'row-label', lineWidth: (client - 74) / 12 / LETTER_SHARE, textOverflow: 'ellipsis' }),
    ],
  });
}

/**
 * @param {Study} study
 * @param {Figure} figure
 */
async function handshakeFigure(study, figure) {
  const found = await figureDetails(study, figure, 'handshake');
  if (!found.length) return noDetails();
  const cells = [...new Set(found.map(({ cell }) => cell))].map((cell) => cellOf(study, cell));
  const width = panelWidth(Math.min(found.length, 3), 340);
  const list = found.map((one) => ({
    title: shownTitle(study, one, cells),
    content: h('div', { 'data-arm': one.arm, 'data-cell': one.cell }, handshakePlot(packetFlights(one.items, linkRtt(study, one.cell)), width, `first packets of ${armLabel(study, one.arm)}`)),
  }));
  return h('div', {}, panels(list), h('p', { class: 'quiet' }, 'Times at the client; the server\'s end of each arrow is half of the link\'s round trip away. Dashed: from the server. Bytes are payload of TCP or UDP.'), loadsShown(found));
}

/**
 * Round trip of a cell's link in milliseconds.
 * @param {Study} study
 * @param {string} cell
 */
function linkRtt(study, cell) {
  const { link: made } = cellOf(study, cell);
  return Number(made && made.rtt_ms) || 0;
}
