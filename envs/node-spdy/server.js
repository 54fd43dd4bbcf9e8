// Serve a folder over SPDY/3.1. Reads the environment of docs/formats.md, section 2.
'use strict';

const fs = require('node:fs');
const path = require('node:path');
const { ALPN, checkSupported, load, logKeys, quit, readCertificate, required, requiredNumber } = require('./common.js');

const TYPES = { '.html': 'text/html', '.jpg': 'image/jpeg' };

// All files below a folder, in memory, by their path on the server.
function readContent(folder) {
  const bodies = new Map([['/prime', Buffer.from('primed\n')]]);
  try {
    for (const name of fs.readdirSync(folder, { recursive: true })) {
      const file = path.join(folder, name);
      if (fs.statSync(file).isFile()) bodies.set(`/${name}`, fs.readFileSync(file));
    }
  } catch (error) {
    quit(1, `WWW: ${error.message}`);
  }
  return bodies;
}

function answer(bodies, request, response) {
  const body = bodies.get(request.url);
  const type = TYPES[path.extname(request.url)] || 'application/octet-stream';
  response.writeHead(body ? 200 : 404, { 'content-type': type, 'content-length': body ? body.length : 0 });
  response.end(body);
}

function main() {
  checkSupported();
  const bodies = readContent(required('WWW'));
  const options = {
    key: readCertificate('priv.key'),
    cert: readCertificate('cert.pem'),
    minVersion: 'TLSv1.3',
    ecdhCurve: 'X25519:P-256',
    spdy: { protocols: [ALPN], connection: { windowSize: requiredNumber('OPTION_WINDOW_BYTES', 65536) } },
  };
  const server = load('spdy').createServer(options, (request, response) => answer(bodies, request, response));
  // No connection may be closed in the middle of a page, however long the link makes it.
  Object.assign(server, { timeout: 0, keepAliveTimeout: 0, headersTimeout: 0, requestTimeout: 0 });
  logKeys(server);
  const sockets = new Set();
  server.on('secureConnection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.on('tlsClientError', (error) => fs.writeSync(2, `node-spdy: ${error.message}\n`));
  server.on('error', (error) => quit(1, error.message));
  server.listen(requiredNumber('PORT', 1), required('ADDRESS'));
  for (const signal of ['SIGTERM', 'SIGINT']) {
    process.on(signal, () => {
      server.close(() => process.exit(0));
      for (const socket of sockets) socket.destroy();
    });
  }
}

main();
