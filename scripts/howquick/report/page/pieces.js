// When the pieces of each resource arrived, and in which order streams were sent.
'use strict';

const PIECE_ROW = 11;

/**
 * Pieces of resources: what a stream carries beside them (control, QPACK) has no path.
 * @param {Shown[]} found
 */
function namedPieces(found) {
  return found.map((one) => ({ ...one, items: one.items.filter((item) => item.path) }));
}

/** @param {string} path */
function shortPath(path) {
  const name = path.split('/').at(-1) || '/';
  return name.length > 18 ? `${name.slice(0, 17)}…` : name;
}

/**
 * Paths in the order in which they come, arm by arm.
 * @param {Shown[]} found
 */
function pathOrder(found) {
  return [...new Set(found.flatMap(({ items }) => [...items].sort((a, b) => a.time_s - b.time_s).map((item) => String(item.path))))];
}

/**
 * Arrival of every piece of every resource, one panel per arm.
 * @param {Study} study
 * @param {Figure} figure
 */
async function framesFigure(study, figure) {
  const pieces = namedPieces(await figureDetails(study, figure, 'frames')).map((one) => ({ ...one, items: one.items.filter((item) => finite(item.time_s)) }));
  const found = lastCell(pieces);
  if (!found.length) return noDetails();
  const paths = pathOrder(found);
  const x = { domain: extent(found.flatMap(({ items }) => items.map((item) => item.time_s)), { zero: true }), label: SINCE_FIRST_PACKET };
  const width = panelWidth(found.length, 420);
  const list = found.map((one) => ({ title: shownTitle(study, one, []), content: framesPlot(one, paths, x, width, `${figureTitle(figure)}: ${armLabel(study, one.arm)}`) }));
  return h('div', {}, h('p', { class: 'quiet' }, `${cellTitle(study, found[0].cell)}. A stroke is a DATA frame of HTTP/2 as it was complete, or a packet's piece of a stream of QUIC.`), panels(list), loadsShown(found));
}

/**
 * @param {Shown} one
 * @param {string[]} paths
 * @param {Axis} x
 * @param {number} width
 * @param {string} label
 */
function framesPlot({ arm, items }, paths, x, width, label) {
  const spans = [...Map.groupBy(items, (item) => String(item.path))].map(([path, some]) => ({ place: paths.indexOf(path), ends: extent(some.map((item) => item.time_s), { pad: 0 }) }));
  const place = (/** @type {Row} */ item) => paths.indexOf(String(item.path));
  const half = 4 / PIECE_ROW;
  return chart({
    label, width, height: paths.length * PIECE_ROW + 60, left: 132, x, y: { ...rowAxis(paths.map((_, index) => index), paths.map(shortPath), [paths.length - 0.3, -0.7]), bare: true },
    marks: [
      Plot.ruleY(spans, { x1: ({ ends }) => ends[0], x2: ({ ends }) => ends[1], y: 'place', className: 'span' }),
      Plot.ruleX(items, { x: 'time_s', y1: (item) => place(item) - half, y2: (item) => place(item) + half, strokeWidth: 1.5, className: 'piece', ...told(items, (item) => ({
        'data-arm': arm, 'data-path': item.path, 'data-value': item.time_s, title: `${item.path}: ${item.bytes} bytes from ${item.offset} at ${milliseconds(item.time_s)}`,
      })) }),
    ],
  });
}

/**
 * Pieces numbered in the order of sending (HTTP/2: of arrival), streams in the order of their first piece.
 * @param {Row[]} items
 */
function numberStreams(items) {
  const sorted = [...items].sort((a, b) => (a.sent_s ?? a.time_s) - (b.sent_s ?? b.time_s));
  const streams = [...new Set(sorted.map((item) => item.stream))];
  return sorted.map((item, index) => ({ item, number: index + 1, stream: streams.indexOf(item.stream) + 1 }));
}

/**
 * Which stream each piece belongs to, in the order of sending, one strip per arm.
 * @param {Study} study
 * @param {Figure} figure
 */
async function streamsFigure(study, figure) {
  const found = lastCell(namedPieces(await figureDetails(study, figure, 'frames')));
  if (!found.length) return noDetails();
  const numbered = found.map((one) => ({ one, pieces: numberStreams(one.items) }));
  const most = Math.max(...numbered.flatMap(({ pieces }) => pieces.map(({ stream }) => stream)));
  const longest = Math.max(...numbered.map(({ pieces }) => pieces.length));
  const width = panelWidth(1, 700);
  const height = Math.min(Math.max(most * 5, 130), 420);
  // As high as a stroke of a pen, however few streams there are.
  const half = Math.min(0.45, (2.2 * most) / height);
  const list = numbered.map(({ one, pieces }) => ({ title: shownTitle(study, one, []), content: chart({
    label: `${figureTitle(figure)}: ${armLabel(study, one.arm)}`, width, height, x: { domain: [0, longest + 1], label: 'pieces, in the order of sending' }, y: { domain: [most + 0.6, 0.4], label: 'stream' },
    marks: [Plot.rect(pieces, {
      x1: (piece) => piece.number - 0.45, x2: (piece) => piece.number + 0.45, y1: ({ stream }) => stream - half, y2: ({ stream }) => stream + half, className: 'piece',
      ...told(pieces, ({ item, number: place, stream }) => ({ 'data-arm': one.arm, 'data-number': place, 'data-value': stream, title: `${item.path}: ${item.bytes} bytes from ${item.offset}` })),
    })],
  }) }));
  return h('div', {}, h('p', { class: 'quiet' }, `${cellTitle(study, found[0].cell)}. A staircase: one stream after the other. Parallel lines: streams in turn.`), panels(list), loadsShown(found));
}
