// The client's side of one SPDY/3.1 connection.
'use strict';

const crypto = require('node:crypto');
const tls = require('node:tls');
const { performance } = require('node:perf_hooks');
const { ALPN, VERSION, load } = require('./common.js');

const transport = load('spdy-transport');

// One TLS connection that speaks SPDY. Times are in seconds since its start. Settings: target (what
// tls.connect takes: host and port, or the path of a local socket), host and authority (names),
// context (TLS), windowBytes, hashed (bodies; otherwise only counted), onKeys (gets lines of TLS secrets).
class Connection {
  constructor(settings) {
    this.settings = settings;
    this.ticket = new Promise((resolve) => { this.onTicket = resolve; });
  }

  // Start the clock, connect, and resolve when SPDY can be spoken.
  open(session) {
    const { target, host, context, windowBytes, onKeys } = this.settings;
    this.originMs = performance.now();
    this.unixStart = (performance.timeOrigin + this.originMs) / 1000;
    return new Promise((resolve, reject) => {
      this.socket = tls.connect({
        ...target, servername: host, secureContext: context, session, ALPNProtocols: [ALPN],
      });
      this.socket.setNoDelay(true);
      this.socket.on('session', this.onTicket);
      if (onKeys) this.socket.on('keylog', onKeys);
      this.socket.once('error', reject);
      this.socket.once('secureConnect', () => {
        if (this.socket.alpnProtocol !== ALPN) return reject(new Error(`the server did not choose ${ALPN}`));
        this.handshakeS = this.sinceStart();
        const options = { protocol: 'spdy', isServer: false, windowSize: windowBytes };
        this.spdy = transport.connection.create(this.socket, options);
        this.spdy.on('error', reject);
        this.spdy.setMaxListeners(0);
        this.spdy.start(VERSION);
        return resolve();
      });
    });
  }

  sinceStart() {
    return (performance.now() - this.originMs) / 1000;
  }

  // Fetch one object and resolve with its entry of TIMING.
  fetch(path, startS) {
    const hash = this.settings.hashed ? crypto.createHash('sha256') : undefined;
    const entry = { path, status: 0, bytes: 0, sha256: null, start_s: startS ?? this.sinceStart() };
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
        hash?.update(chunk);
      });
      stream.on('end', () => {
        this.spdy.removeListener('close', fail);
        entry.end_s = this.sinceStart();
        if (hash) entry.sha256 = hash.digest('hex');
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

module.exports = { Connection };
