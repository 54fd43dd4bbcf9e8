// What a load left as files: captures, qlogs, the browser's film strip and HAR; and commands that show them.
'use strict';

// Where Chromium's client leaves its HAR (envs/chromium/artifacts.js).
const HAR = 'artifacts/har.json';
// What to look at first in a capture, by protocol; those of config/schemas/endpoint.schema.json.
/** @type {Record<string, string>} */
const WIRESHARK = { h1: 'http', h2: 'http2', h3: 'http3', hq: 'quic', spdy: 'tls', tls: 'tls', sctp: 'sctp' };

/**
 * Files of its run folder; none where the folder is not beside the report.
 * @param {Detail} detail
 */
function filesOf(detail) {
  return place().runs ? detail.files || [] : [];
}

/**
 * A browser's network panel takes files whose name ends with .har.
 * @param {Row} row
 * @param {Detail} detail
 */
function harLink(row, detail) {
  if (!filesOf(detail).some(([name]) => name === HAR)) return null;
  const name = `${[row.study, row.cell, row.arm, row.repetition].join('-')}.har`;
  return h('p', {}, h('a', { href: resultFile(`${row.path}/${HAR}`), download: name, class: 'har' }, 'its HAR file'),
    h('span', { class: 'quiet' }, ': every request with its headers and times. A browser shows it where its developer tools have Network: Import HAR.'));
}

/**
 * @param {Row} row
 * @param {Detail} detail
 */
function filmSection(row, detail) {
  const frames = filesOf(detail).map(([name]) => name).filter((name) => /^artifacts\/filmstrip\/[^/]+\.jpg$/.test(name)).sort();
  const har = harLink(row, detail);
  if (!frames.length && !har) return null;
  const film = frames.map((name) => h('figure', {}, h('img', { src: resultFile(`${row.path}/${name}`), alt: `what the browser showed: ${name}`, loading: 'lazy' }), h('figcaption', {}, name.split('/').at(-1))));
  return h('section', {}, h('h2', {}, 'What the browser recorded'), har,
    film.length ? [h('h3', {}, 'Film strip'), h('div', { class: 'film', tabindex: 0, role: 'region', 'aria-label': 'film strip' }, film)] : null);
}

/**
 * Where view.py serves the page, it also hands qlogs to qvis, rewritten to what that knows.
 * @param {string} path
 */
function qvisLink(path) {
  if (location.protocol === 'file:') return null;
  const file = new URL(`../qvis/${path.split('/').map(encodeURIComponent).join('/')}`, location.href.split('#')[0]);
  return h('a', { href: `https://qvis.quictools.info/#/sequence?file=${encodeURIComponent(file.href)}`, rel: 'noopener noreferrer', target: '_blank' }, 'open in qvis');
}

/**
 * @param {Row} row
 * @param {Detail} detail
 */
function captureSection(row, detail) {
  if (!row.path) return null;
  return h('section', {}, h('h2', {}, 'Captures and logs as files'), measuredAgain(row) || [captureCommands(row, detail), fileTable(row, detail)]);
}

/**
 * @param {Row} row
 * @param {Detail} detail
 */
function captureCommands(row, detail) {
  const names = filesOf(detail).map(([name]) => name);
  if (names.includes('client.pcapng')) return ['client', 'server'].map((end) => copyable(captureCommand('wireshark', row.path, end, WIRESHARK[row.protocol] || '')));
  if (!names.length) return null;
  const block = `${resultsFolder()}/blocks/${row.study}/${row.cell}/${row.block}.json`;
  return [h('p', { class: 'quiet' }, 'No capture is in its folder. Where runs were packed, this brings it back:'), copyable(`./enter python3 scripts/pack.py unpack ${quoted(block)}`)];
}

/**
 * @param {Row} row
 * @param {Detail} detail
 */
function fileTable(row, detail) {
  const files = filesOf(detail);
  if (!files.length) return h('p', { class: 'quiet' }, `The run folder ${row.path} was not there when this report was made.`);
  return grid(['file', 'size', 'viewer'], files.map(([name, size]) => [h('a', { href: resultFile(`${row.path}/${name}`) }, name), bytes(size), /\.s?qlog$/.test(name) ? qvisLink(`${row.path}/${name}`) : null]));
}
