// Load one page over SPDY/3.1 and write TIMING. Reads the environment of docs/formats.md, section 2.
'use strict';

const crypto = require('node:crypto');
const fs = require('node:fs');
const tls = require('node:tls');
const {
  ALPN, VERSION, checkSupported, load, logKeys, quit, readCertificate, required, requiredNumber,
} = require('./common.js');

const transport = load('spdy-transport');
const nowS = () => Number(process.hrtime.bigint()) / 1e9;

// One TLS connection that speaks SPDY. Times are in seconds since its start.
class Connection {
  constructor(settings) {
    this.settings = settings;
    this.ticket = new Promise((resolve) => { this.onTicket = resolve; });
  }

  // Start the clock, connect, and resolve when SPDY can be spoken.
  open(session) {
    const { address, port, host, context, windowBytes } = this.settings;
    this.unixStart = Date.now() / 1000;
    this.origin = nowS();
    return new Promise((resolve, reject) => {
      this.socket = tls.connect({
        host: address, port, servername: host, secureContext: context, session, ALPNProtocols: [ALPN],
      });
      this.socket.setNoDelay(true);
      this.socket.on('session', this.onTicket);
      logKeys(this.socket);
      this.socket.once('error', reject);
      this.socket.once('secureConnect', () => {
        if (this.socket.alpnProtocol !== ALPN) return reject(new Error(`the server did not choose ${ALPN}`));
        this.handshakeS = this.sinceStart();
        const options = { protocol: 'spdy', isServer: false, windowSize: windowBytes };
        this.spdy = transport.connection.create(this.socket, options);
        this.spdy.on('error', reject);
        this.spdy.start(VERSION);
        return resolve();
      });
    });
  }

  sinceStart() {
    return nowS() - this.origin;
  }

  // Fetch one object and resolve with its entry of TIMING.
  fetch(path, startS) {
    const hash = crypto.createHash('sha256');
    const entry = { path, status: 0, bytes: 0, sha256: '', start_s: startS ?? this.sinceStart() };
    return new Promise((resolve, reject) => {
      const fail = (error) => reject(new Error(`${path}: ${error ? error.message : 'connection closed'}`));
      this.spdy.once('close', fail);
      const stream = this.spdy.request({ method: 'GET', path, host: this.settings.authority, headers: {} }, (error) => {
        if (error) fail(error);
      });
      stream.on('error', fail);
      stream.on('response', (status) => {
        entry.status = status;
        entry.first_byte_s = this.sinceStart();
      });
      stream.on('data', (chunk) => {
        entry.bytes += chunk.length;
        hash.update(chunk);
      });
      stream.on('end', () => {
        this.spdy.removeListener('close', fail);
        entry.end_s = this.sinceStart();
        entry.sha256 = hash.digest('hex');
        if (entry.status === 200) resolve(entry);
        else reject(new Error(`${path}: status ${entry.status}`));
      });
      stream.end();
    });
  }

  close() {
    return new Promise((resolve) => {
      this.socket.once('close', resolve);
      this.socket.end();
    });
  }
}

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
    address: required('ADDRESS'),
    port: requiredNumber('PORT', 1),
    host: required('HOST'),
    authority: urls[0].host,
    windowBytes: requiredNumber('OPTION_WINDOW_BYTES', 65536),
    context: tls.createSecureContext({
      ca: readCertificate('ca.pem'), minVersion: 'TLSv1.3', ecdhCurve: 'X25519',
    }),
  };
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
