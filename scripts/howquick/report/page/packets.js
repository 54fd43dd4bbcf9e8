// Packets between both ends: drawn as a sequence, listed, and one of them alone.
'use strict';

const PER_PAGE = 80;
const STREAM_COLOURS = COLOURS.slice(0, 6);

/** @param {Row} packet */
function packetId(packet) {
  return `${packet.direction}-${packet.number}`;
}

/** @param {Row} packet */
function isLost(packet) {
  return packet.received_s === null && packet.fate !== 'unknown';
}

/** @param {Row} packet */
function streamColour(packet) {
  const stream = packet.streams === null || packet.streams === undefined ? null : Number(String(packet.streams).split(' ')[0]);
  return stream === null ? null : STREAM_COLOURS[Math.floor(stream / 4 + (stream % 4)) % STREAM_COLOURS.length];
}

/** @type {Record<string, string>} */
const FATES = {
  arrived: 'arrived', loss: 'lost: the link dropped it at random, as its loss rate asks', queue: 'lost: the queue in front of the link was full',
  lost: 'lost on the way; the emulator does not say where', unknown: 'under way when the capture ended',
};

/**
 * @param {Route} route
 * @param {string[]} where
 * @param {Row} row
 * @param {Row[]} packets
 */
function packetsSection(route, where, row, packets) {
  if (!packets.length) return h('section', {}, h('h2', {}, 'Packets'), h('p', { class: 'quiet' }, 'Packets are listed for the first repetition of each arm in a cell and for its slowest load, where both ends were captured.'));
  const lost = packets.filter(isLost);
  const pages = Math.ceil(packets.length / PER_PAGE);
  const page = Math.min(Math.max(Number(route.choices.page) || 0, 0), pages - 1);
  const some = packets.slice(page * PER_PAGE, (page + 1) * PER_PAGE);
  const gaps = biggestGaps(packets, finite(row.plt_s) ? row.plt_s : Infinity);
  const go = (/** @type {Row} */ packet, /** @type {string} */ text) => h('li', {}, link([...where, packetId(packet)], text));
  return h('section', { id: 'packets' }, h('h2', {}, 'Packets between both ends'),
    h('p', { class: 'quiet' }, `${packets.length} packets${packets.length >= 1000 ? ' (the table keeps those lost and the first 1000)' : ''}, ${lost.length} of them lost. Each line is a packet from one end to the other, in the colour of its stream; dashed: its bytes were sent before. Bursts are stretched, silences shortened.`),
    h('div', { class: 'columns' },
      lost.length ? h('div', {}, h('h3', {}, 'Lost'), h('ul', { class: 'lost-list' }, lost.slice(0, 8).map((packet) => go(packet, `${packet.direction} ${packet.number} at ${milliseconds(packet.sent_s)}: ${packet.label}, ${packet.fate}`)), lost.length > 8 ? h('li', { class: 'quiet' }, `and ${lost.length - 8} more in the list below`) : null)) : null,
      h('div', {}, h('h3', {}, 'Longest silences at the client'), h('ul', { class: 'gap-list' }, gaps.map(({ packet, gap }) => go(packet, `${milliseconds(gap)} until packet ${packet.direction} ${packet.number} (${packet.label}) arrived`))))),
    pager(route, page, pages, packets),
    sequence(where, some, null),
    packetTable(where, some));
}

/**
 * What arrived at the client after nothing had for long: there a load stood still. What comes after its end is none of it.
 * @param {Row[]} packets
 * @param {number} end seconds
 */
function biggestGaps(packets, end) {
  const came = packets.filter((packet) => packet.direction === 'down' && packet.received_s !== null && packet.received_s <= end).sort((a, b) => a.received_s - b.received_s);
  return came.slice(1).map((packet, index) => ({ packet, gap: packet.received_s - came[index].received_s })).sort((a, b) => b.gap - a.gap).slice(0, 5);
}

/**
 * @param {Route} route
 * @param {number} page
 * @param {number} pages
 * @param {Row[]} packets
 */
function pager(route, page, pages, packets) {
  if (pages < 2) return null;
  const to = (/** @type {number} */ at, /** @type {string} */ text) => (at < 0 || at >= pages ? h('span', { class: 'quiet' }, text) : link(route.parts, text, { ...route.choices, page: at || '' }));
  const [first, last] = [packets[page * PER_PAGE], packets[Math.min((page + 1) * PER_PAGE, packets.length) - 1]];
  return h('nav', { class: 'pager', 'aria-label': 'packets' }, to(page - 1, '← before'), h('span', {}, ` ${page + 1} of ${pages}: ${milliseconds(first.sent_s)} to ${milliseconds(last.sent_s)} `), to(page + 1, 'after →'));
}

/**
 * Time downwards, bursts stretched and silences shortened so that every packet can be told apart and reached.
 * @param {Row[]} packets
 */
function stretched(packets) {
  const times = [...new Set(packets.flatMap((packet) => [packet.sent_s, packet.received_s]).filter(finite))].sort((a, b) => a - b);
  const perSecond = (6 * times.length) / Math.max(times[times.length - 1] - times[0], 1e-6);
  const place = new Map();
  let y = 34;
  times.forEach((time, index) => {
    if (index) y += Math.min(Math.max((time - times[index - 1]) * perSecond, 4), 70);
    place.set(time, y);
  });
  return { Y: (/** @type {number} */ time) => place.get(time), height: y + 24 };
}

/**
 * Client on the left, server on the right.
 * @param {string[]} where
 * @param {Row[]} packets
 * @param {string | null} chosen
 */
function sequence(where, packets, chosen) {
  const width = Math.min(room(), 900);
  const [left, right] = [96, width - 96];
  const { Y, height } = stretched(packets);
  const svg = s('svg', { viewBox: `0 0 ${width} ${height}`, width, height, class: 'plot sequence', role: 'group', 'aria-label': 'sequence of packets' },
    s('text', { class: 'end', x: left, y: 16, 'text-anchor': 'middle' }, 'client'), s('text', { class: 'end', x: right, y: 16, 'text-anchor': 'middle' }, 'server'),
    s('line', { class: 'axis', x1: left, x2: left, y1: 24, y2: height }), s('line', { class: 'axis', x1: right, x2: right, y1: 24, y2: height }));
  let said = -Infinity;
  let saidRight = -Infinity;
  for (const packet of packets) {
    const down = packet.direction === 'down';
    const [x1, x2] = down ? [right, left] : [left, right];
    const y1 = Y(packet.sent_s);
    const lost = packet.received_s === null;
    const y2 = lost ? y1 + Math.min(12, height - y1 - 2) : Y(packet.received_s);
    const end = lost ? x1 + (x2 - x1) * 0.55 : x2;
    const colour = streamColour(packet);
    const line = s('line', { x1, x2: end, y1, y2, class: `packet ${packet.payload ? 'full' : 'bare'} ${lost ? 'gone' : ''} ${packet.again === 'true' ? 'again' : ''} ${chosen === packetId(packet) ? 'chosen' : ''}` });
    // A rule of the style sheet would be stronger than an attribute.
    if (colour && !lost) line.style.stroke = colour;
    const wide = s('line', { x1, x2: end, y1, y2, class: 'touch' });
    const anchor = pointLink(routeTo([...where, packetId(packet)]), `${packet.direction} ${packet.number}: ${packet.label} ${packet.content || ''}, ${packet.bytes} bytes, ${packet.fate}`, line);
    anchor.append(wide);
    if (isLost(packet)) anchor.append(s('text', { class: 'cross', x: end, y: y2 + 4, 'text-anchor': 'middle' }, '×'));
    svg.append(anchor);
    const [last, side] = down ? [saidRight, right + 8] : [said, left - 8];
    if (y1 - last > 13) {
      svg.append(s('text', { class: 'time', x: side, y: y1 + 4, 'text-anchor': down ? 'start' : 'end' }, `${(packet.sent_s * 1000).toFixed(1)} ms`));
      if (down) saidRight = y1;
      else said = y1;
    }
  }
  return h('div', { class: 'scroll' }, svg);
}

/**
 * @param {string[]} where
 * @param {Row[]} packets
 */
function packetTable(where, packets) {
  return grid(['packet', 'sent', 'arrived', 'delay', 'bytes', 'what', 'inside', 'streams', 'fate'], packets.map((packet) => ({
    properties: { class: isLost(packet) ? 'gone' : '' },
    cells: [
      h('span', { class: 'nowrap' }, packet.direction === 'down' ? '← ' : '→ ', link([...where, packetId(packet)], packetId(packet))), milliseconds(packet.sent_s), packet.received_s === null ? '—' : milliseconds(packet.received_s),
      packet.received_s === null ? '—' : milliseconds(packet.received_s - packet.sent_s), number(packet.bytes), `${packet.label}${packet.again === 'true' ? ' (again)' : ''}`, packet.content, packet.streams, packet.fate,
    ],
  })), { class: 'packets' });
}

/**
 * The packet that carried the same bytes before; undefined where its bytes were divided in another way.
 * @param {Row[]} packets
 * @param {number} at
 */
function sentBefore(packets, at) {
  const packet = packets[at];
  if (packet.again !== 'true') return undefined;
  const alike = (/** @type {Row} */ other) => ['direction', 'connection', 'payload', 'content'].every((key) => other[key] === packet[key]);
  return packets.slice(0, at).reverse().find(alike);
}

/**
 * @param {Route} route
 * @param {Study} study
 * @param {string} cell
 * @param {Row} row
 * @param {Detail} detail
 * @param {string[]} where
 */
function packetPage(route, study, cell, row, detail, where) {
  const packets = howquick.rows(detail.packets);
  const id = route.parts[4];
  const at = packets.findIndex((packet) => packetId(packet) === id);
  if (at < 0) return h('p', { class: 'empty' }, `No packet ${id} is listed of this load.`);
  const packet = packets[at];
  const down = packet.direction === 'down';
  const lostAfter = packets.findIndex((other, index) => index > at && isLost(other));
  const [sender, receiver] = down ? ['server', 'client'] : ['client', 'server'];
  const step = (/** @type {number} */ index, /** @type {string} */ text) => (packets[index] ? link([...where, packetId(packets[index])], text) : null);
  const before = sentBefore(packets, at);
  const again = before ? [link([...where, packetId(before)], packetId(before)), ` at ${milliseconds(before.sent_s)}, ${before.fate}`] : (packet.again === 'true' ? 'yes' : 'no');
  document.title = `packet ${id} – ${row.arm}, ${cell}`;
  const show = (/** @type {string} */ program, /** @type {string} */ end) => captureCommand(program, row.path || '', end, `frame.number == ${end === sender ? packet.number : packet.receiver_number}`);
  const ends = place().runs || row.clock === 'virtual' ? [sender, ...(packet.receiver_number === null ? [] : [receiver])] : [];
  const commands = ends.map((end) => h('div', {}, h('h3', {}, `In the ${end}'s capture`), copyable(show('wireshark', end)), copyable(`${show('tshark', end)} -V`)));
  return h('div', {},
    h('h2', {}, `Packet ${packet.number} of the ${sender}: ${packet.label}`),
    h('p', { class: 'pager' }, step(at - 1, '← packet before'), ' ', step(at + 1, 'packet after →'), ' ', lostAfter >= 0 ? step(lostAfter, 'next one lost') : null, ' ', link(where, 'all packets', { page: Math.floor(at / PER_PAGE) || '' })),
    h('p', { class: `fate ${isLost(packet) ? 'bad' : ''}` }, FATES[packet.fate] || packet.fate),
    facts([
      ['from', `${sender} to ${receiver}`], ['left', milliseconds(packet.sent_s)], ['arrived', packet.received_s === null ? 'never' : milliseconds(packet.received_s)],
      ['delay', packet.received_s === null ? null : milliseconds(packet.received_s - packet.sent_s)], ['on the wire', `${packet.bytes} bytes`], ['payload', `${packet.payload} bytes`],
      ['seen unencrypted', packet.label], ['inside', packet.content], ['streams', packet.streams], ['connection', String(packet.connection)], ['carries bytes sent before', again],
      [`number in the ${sender}'s capture`, String(packet.number)], [`number in the ${receiver}'s capture`, packet.receiver_number === null ? null : String(packet.receiver_number)],
    ]),
    h('h2', {}, 'In Wireshark'), measuredAgain(row), commands,
    h('h2', {}, 'What was under way around it'), sequence(where, packets.slice(Math.max(at - 14, 0), at + 15), id));
}
