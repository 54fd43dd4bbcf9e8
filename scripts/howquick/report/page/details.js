// Figures that are drawn from details of single loads, and the tree of what wins where.
'use strict';

/**
 * The first finished load of each arm in a cell that has rows in a detail table: [{arm, row, items}].
 * @param {Study} study
 * @param {string} cell
 * @param {string[]} arms
 * @param {string} table
 */
async function firstDetails(study, cell, arms, table) {
  const number = study.cell_names.indexOf(cell);
  /** @type {CellPage} */
  const page = await howquick.load(`${study.study}/c${number}`);
  const rows = howquick.rows(page.runs);
  const detailed = new Set(page.detailed);
  const found = [];
  for (const arm of arms) {
    const at = rows.findIndex((row, index) => row.arm === arm && row.status === 'ok' && detailed.has(index));
    if (at < 0) continue;
    const items = howquick.rows((await howquick.load(`${study.study}/${number}/${at}`))[table]);
    if (items.length) found.push({ arm, row: rows[at], items });
  }
  return found;
}

function noDetails() {
  return h('p', { class: 'empty' }, 'No details of these loads are in this folder.');
}

/**
 * Bytes at the client, or the sender's window, over time.
 * @param {Study} study
 * @param {Figure} figure
 */
async function timeFigure(study, figure) {
  const cells = selected(study, figure.cells);
  if (!cells.length) return absent(study);
  const arms = figureArms(study, figure);
  const points = (/** @type {any} */ item) => (figure.kind === 'bytes' ? [item.time_s, item.received_bytes] : [item.time_s, item.cwnd_bytes ?? item.bytes_in_flight]);
  const list = [];
  for (const cell of cells) {
    const found = await firstDetails(study, cell.name, arms, figure.kind === 'bytes' ? 'series' : 'window');
    const lines = found.map(({ arm, items }) => ({ arm, points: items.map(points).filter(([, value]) => finite(value)) }));
    const all = lines.flatMap((line) => line.points);
    const picture = () => chart({
      width: panelWidth(1), height: 280, x: { domain: extent(all.map(([x]) => x), { zero: true }), label: 'seconds' },
      y: { domain: extent(all.map(([, y]) => y), { zero: true }), label: figure.kind === 'bytes' ? 'bytes at the client' : 'window, or in flight (bytes)' }, label: figure.title,
    }, (svg, X, Y) => {
      for (const line of lines) svg.append(polyline(line.points, X, Y, { stroke: armStyle(study, line.arm).colour }));
    });
    list.push({ title: link([study.study, cell.name], cellTitle(study, cell.name, varying(study, cells)) || cell.name), content: all.length ? picture() : noDetails() });
  }
  return h('div', {}, legend(arms.map((arm) => ({ label: armLabel(study, arm), ...armStyle(study, arm) }))), panels(list));
}

/**
 * @param {Study} study
 * @param {Figure} figure
 */
async function handshakeFigure(study, figure) {
  const cells = selected(study, figure.cells);
  if (!cells.length) return absent(study);
  const lists = await Promise.all(cells.map((cell) => firstDetails(study, cell.name, figureArms(study, figure), 'handshake')));
  const found = lists.flatMap((list, index) => list.map((one) => ({ ...one, cell: cells[index].name })));
  if (!found.length) return noDetails();
  return panels(found.map(({ arm, row, cell, items }) => ({
    title: link([study.study, cell, arm, String(row.repetition)], armLabel(study, arm)),
    content: grid(['time', '', 'payload', 'what'], items.map((item) => [milliseconds(item.time_s), item.direction === 'up' ? '→' : '←', bytes(item.bytes), item.label])),
  })));
}

/**
 * When the pieces of each resource arrived, or which stream each piece belongs to in the order of sending: the largest page.
 * @param {Study} study
 * @param {Figure} figure
 */
async function piecesFigure(study, figure) {
  const cells = selected(study, figure.cells);
  if (!cells.length) return absent(study);
  const cell = cells.at(-1);
  const found = await firstDetails(study, cell.name, figureArms(study, figure), 'frames');
  if (!found.length) return noDetails();
  const list = found.map(({ arm, row, items }) => {
    const streams = [...new Set(items.map((item) => item.stream))];
    const arrival = figure.kind === 'frames';
    const points = items.map((item, index) => [arrival ? item.time_s : index + 1, streams.indexOf(item.stream) + 1, item]).filter(([x]) => finite(x));
    const picture = chart({
      width: panelWidth(found.length), height: Math.min(Math.max(streams.length * 5, 230), 460), x: { domain: extent(points.map(([x]) => x), { zero: true }), label: arrival ? 'seconds' : 'piece, in the order of sending' },
      y: { domain: [streams.length + 1, 0], label: 'stream, by its first piece' }, label: `${figure.title}: ${armLabel(study, arm)}`,
    }, (svg, X, Y) => {
      for (const [x, y, item] of points) {
        svg.append(s('rect', { class: 'piece', x: X(x) - 0.8, y: Y(y) - 2.5, width: 1.8, height: 5 }, s('title', {}, `${item.path || `stream ${item.stream}`}: ${item.bytes} bytes from ${item.offset}`)));
      }
    });
    return { title: link([study.study, cell.name, arm, String(row.repetition)], armLabel(study, arm)), content: picture };
  });
  return h('div', {}, h('p', { class: 'quiet' }, cellTitle(study, cell.name)), panels(list));
}

/**
 * Start, first byte and end of one object.
 * @param {Study} study
 * @param {Figure} figure
 */
async function transferFigure(study, figure) {
  const cells = selected(study, figure.cells);
  if (!cells.length) return absent(study);
  const list = [];
  for (const cell of cells) {
    const found = await firstDetails(study, cell.name, figureArms(study, figure), 'objects');
    const lines = found.map(({ arm, row, items }) => ({ arm, row, item: items.find((one) => one.path === figure.path) })).filter(({ item }) => item);
    list.push({
      title: link([study.study, cell.name], cellTitle(study, cell.name, varying(study, cells)) || cell.name),
      content: lines.length ? grid(['arm', 'asked for', 'first byte', 'end', 'bytes'], lines.map(({ arm, row, item }) => [
        link([study.study, cell.name, arm, String(row.repetition)], armLabel(study, arm)), milliseconds(item.start_s), milliseconds(item.first_byte_s), milliseconds(item.end_s), bytes(item.bytes),
      ])) : noDetails(),
    });
  }
  return h('div', {}, h('p', { class: 'quiet' }, `${figure.path}, the first load of each arm`), panels(list));
}

/**
 * tree.csv lists nodes level by level; each node that splits has the next two of the level below.
 * @param {Study} study
 */
function treeFigure(study) {
  /** @type {Split[]} */
  const nodes = howquick.rows(study.tables.tree).map((row) => ({ ...row, children: /** @type {Split[]} */ ([]) }));
  if (!nodes.length) return h('p', { class: 'empty' }, 'There is no tree: no cell has loads of all arms.');
  /** @type {Split[]} */
  const waiting = [];
  for (const node of nodes) {
    while (waiting.length && waiting[0].children.length === 2) waiting.shift();
    if (node.depth > 0 && waiting.length) waiting[0].children.push(node);
    if (String(node.leaf).toUpperCase() !== 'TRUE') waiting.push(node);
  }
  const label = (/** @type {string} */ name) => (study.factors.find((factor) => factor.name === name) || { label: name }).label;
  const won = (/** @type {Split} */ node) => (node.label === 'tie' ? 'tie' : String(node.label).split('+').map((arm) => armLabel(study, arm)).join(' and '));
  /** @type {(node: Split) => Node} */
  const item = (node) => h('li', {}, node.depth ? h('span', {}, `${label(node.variable)} ${node.levels}: `) : null, h('b', {}, won(node)), h('small', {}, ` in ${node.right} of ${node.n} cells`),
    node.children.length ? h('ul', {}, node.children.map(item)) : null);
  return h('ul', { class: 'tree' }, item(nodes[0]));
}
