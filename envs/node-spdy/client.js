// Load one page over SPDY/3.1 and write TIMING. Reads the environment of docs/formats.md, section 2.
'use strict';

const {
  clientContext, keyLogger, quit, readEnvironment,
} = require('./common.js');
const { Connection } = require('./connection.js');
const { passGate, writeTiming } = require('./contract');
const { warmUp } = require('./warmup.js');

// Fetch /prime on a connection of its own and resolve with a session that can be resumed.
async function prime(options) {
  const connection = new Connection(options);
  await connection.open();
  await connection.fetch('/prime');
  const session = await connection.ticket;
  await connection.close();
  return session;
}

function rounded(entry) {
  const seconds = (value) => Number(value.toFixed(6));
  const { start_s: start, first_byte_s: first, end_s: end } = entry;
  return { ...entry, start_s: seconds(start), first_byte_s: seconds(first), end_s: seconds(end) };
}

// The HTML, then all others at once; or one after the other.
async function fetchAll(connection, { urls, sequential }) {
  const [page, ...rest] = urls.map((url) => url.pathname);
  const objects = [await connection.fetch(page, 0)];
  if (!sequential) return objects.concat(await Promise.all(rest.map((path) => connection.fetch(path))));
  for (const path of rest) objects.push(await connection.fetch(path));
  return objects;
}

async function loadPage() {
  const settings = readEnvironment('client');
  const options = {
    target: { host: settings.address, port: settings.port },
    host: settings.host,
    authority: settings.load.urls[0].host,
    windowBytes: settings.windowBytes,
    context: clientContext(settings),
    hashed: settings.load.hashed,
    onKeys: keyLogger(settings),
  };
  await warmUp(settings);
  const session = settings.connection === 'resumed' ? await prime(options) : undefined;
  const connection = new Connection(options);
  await passGate();
  await connection.open(session);
  const objects = await fetchAll(connection, settings.load);
  writeTiming(settings.load.timing, {
    protocol: 'spdy',
    start: connection.unixStart,
    handshake_s: Number(connection.handshakeS.toFixed(6)),
    resumed: connection.socket.isSessionReused(),
    early_data: false,
    connections: 1,
    objects: objects.map(rounded),
  });
  await connection.close();
}

loadPage().then(() => process.exit(0), quit);
