// A SPDY/3.1 server on node-spdy for files in memory.
'use strict';

const path = require('node:path');
const { ALPN, load, readCertificate } = require('./common.js');

const TYPES = { '.html': 'text/html', '.jpg': 'image/jpeg' };

function answer(bodies, request, response) {
  const body = bodies.get(request.url);
  const type = TYPES[path.extname(request.url)] || 'application/octet-stream';
  response.writeHead(body ? 200 : 404, { 'content-type': type, 'content-length': body ? body.length : 0 });
  response.end(body);
}

// A server, not yet listening, for bodies (a Map from path to Buffer).
function createService(bodies, settings) {
  const options = {
    key: readCertificate(settings, 'priv.key'),
    cert: readCertificate(settings, 'cert.pem'),
    minVersion: 'TLSv1.3',
    ecdhCurve: 'X25519:P-256',
    spdy: { protocols: [ALPN], connection: { windowSize: settings.windowBytes } },
  };
  const server = load('spdy').createServer(options, (request, response) => answer(bodies, request, response));
  // No connection may be closed in the middle of a page, however long the link makes it.
  return Object.assign(server, { timeout: 0, keepAliveTimeout: 0, headersTimeout: 0, requestTimeout: 0 });
}

module.exports = { createService };
