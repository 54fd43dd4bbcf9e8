// The first packets of a load as a sequence diagram.
'use strict';

// As in R/figures/kinds/handshake.R: packets of one kind that follow each other so closely are one arrow; more arrows than these
// are the transfer itself.
const SAME_FLIGHT_S = 0.0015;
const SHOWN_FLIGHTS = 12;

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
    if (same) {
      flights.at(-1).packets += 1;
      flights.at(-1).bytes += item.bytes;
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
  const height = Math.max(230, flights.length * 19 + 60);
  const [top, bottom, client, server] = [26, height - 16, Math.round(width * 0.58), width - 30];
  const times = flights.flatMap((flight) => [flight.client, flight.server]);
  const Y = scale(extent([0, ...times], { pad: 0.02 }), [top, bottom], { ticks: 5 });
  const svg = s('svg', { viewBox: `0 0 ${width} ${height}`, width, height, class: 'plot flights', role: 'img', 'aria-label': label });
  for (const tick of Y.ticks) svg.append(s('line', { class: 'gridline', x1: client, x2: server, y1: Y(tick), y2: Y(tick) }), s('text', { x: 0, y: Y(tick) + 4 }, `${short(tick)} ms`));
  svg.append(s('text', { class: 'axis-label', x: client, y: 14, 'text-anchor': 'middle' }, 'client'), s('text', { class: 'axis-label', x: server, y: 14, 'text-anchor': 'middle' }, 'server'),
    s('line', { class: 'axis', x1: client, x2: client, y1: top, y2: bottom }), s('line', { class: 'axis', x1: server, x2: server, y1: top, y2: bottom }));
  let least = -Infinity;
  const letters = Math.floor((client - 74) / 6.2);
  for (const flight of flights) {
    const [from, to] = flight.up ? [[client, Y(flight.client)], [server, Y(flight.server)]] : [[server, Y(flight.server)], [client, Y(flight.client)]];
    // Labels are where their packets are, moved down where they would cover each other.
    least = Math.max(Y(flight.client), least + 15);
    const text = flightText(flight);
    const angle = (Math.atan2(to[1] - from[1], to[0] - from[0]) * 180) / Math.PI;
    svg.append(s('g', { class: 'flight', 'data-direction': flight.up ? 'up' : 'down', 'data-packets': flight.packets, 'data-bytes': flight.bytes, 'data-client': flight.client, 'data-server': flight.server, 'data-label': flight.label },
      s('title', {}, `${milliseconds(flight.client / 1000)} at the client, ${flight.up ? 'to' : 'from'} the server: ${text}`),
      s('line', { class: flight.up ? 'arrow' : 'arrow answer', x1: from[0], y1: from[1], x2: to[0], y2: to[1] }),
      s('path', { class: 'arrow-head', d: 'M0,0l-7,-3.5v7z', transform: `translate(${to[0].toFixed(1)},${to[1].toFixed(1)}) rotate(${angle.toFixed(1)})` }),
      s('line', { class: 'gridline', x1: client - 3, x2: client - 10, y1: Y(flight.client), y2: least }),
      s('text', { class: 'row-label', x: client - 13, y: least + 4, 'text-anchor': 'end' }, text.length > letters ? `${text.slice(0, letters - 1)}…` : text)));
  }
  const whole = Math.max(height, least + 12);
  return fill(svg, { viewBox: `0 0 ${width} ${whole}`, height: whole }, []);
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
