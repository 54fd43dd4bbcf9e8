// Load one page over SPDY/3.1 and write TIMING. Reads the environment of docs/formats.md, section 2.
'use strict';

const fs = require('node:fs');
const {
  checkSupported, clientContext, keyLogger, quit, required, requiredNumber, windowBytes,
} = require('./common.js');
const { Connection } = require('./connection.js');
const { warmUp } = require('./warmup.js');

// Fetch /prime on a connection of its own and resolve with a session that can be resumed.
async function prime(settings) {
  const connection = new Connection(settings);
  await connection.open();
  await connection.fetch('/prime');
  const session = await connection.ticket;
  await connection.close();
  return session;
}

function waitForGo() {
  fs.writeSync(1, 'ready\n');
  const byte = Buffer.alloc(1);
  let line = '';
  while (!line.endsWith('\n') && fs.readSync(0, byte, 0, 1) === 1) line += byte;
  if (line !== 'go\n') quit(1, 'expected the line go on standard input');
}

function rounded(entry) {
  const seconds = (value) => Number(value.toFixed(6));
  const { start_s: start, first_byte_s: first, end_s: end } = entry;
  return { ...entry, start_s: seconds(start), first_byte_s: seconds(first), end_s: seconds(end) };
}

async function loadPage() {
  const urls = required('REQUESTS').split(' ').map((url) => new URL(url));
  const settings = {
    target: { host: required('ADDRESS'), port: requiredNumber('PORT', 1) },
    host: required('HOST'),
    authority: urls[0].host,
    windowBytes: windowBytes(),
    context: clientContext(),
    onKeys: keyLogger(),
  };
  await warmUp();
  const session = required('CONNECTION') === 'resumed' ? await prime(settings) : undefined;
  const connection = new Connection(settings);
  waitForGo();
  await connection.open(session);
  const [page, ...rest] = urls.map((url) => url.pathname);
  const html = await connection.fetch(page, 0);
  const objects = await Promise.all(rest.map((path) => connection.fetch(path)));
  const timing = {
    protocol: 'spdy',
    start: connection.unixStart,
    handshake_s: Number(connection.handshakeS.toFixed(6)),
    resumed: connection.socket.isSessionReused(),
    early_data: false,
    connections: 1,
    objects: [html, ...objects].map(rounded),
  };
  fs.writeFileSync(required('TIMING'), JSON.stringify(timing, null, 1));
  await connection.close();
}

checkSupported();
loadPage().then(() => process.exit(0), (error) => quit(1, error.message));
