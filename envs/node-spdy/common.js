// What server and client share: the environment of docs/formats.md, section 2.
'use strict';

const fs = require('node:fs');
const { createRequire } = require('node:module');
const path = require('node:path');
const tls = require('node:tls');
const {
  Environment, Refusal, readLoad, readSettings, refuse,
} = require('./contract');

const ALPN = 'spdy/3.1';
const VERSION = 3.1;
const ABLE = { spdy: { connection: ['cold', 'resumed'] } };
const LEAST_WINDOW = 65536;
const LARGEST_WINDOW = 2 ** 31 - 1;

// Print why this does not work and end the process at once.
const quit = (error) => refuse('node-spdy', error);

// What `role` is told: common to both, `load` of a client, `www` of a server. Throws Refusal.
function readEnvironment(role) {
  const env = new Environment(process.env);
  const settings = readSettings(env, ABLE);
  settings.windowBytes = env.optionNumber('window_bytes', LEAST_WINDOW, LARGEST_WINDOW);
  if (role === 'client') settings.load = readLoad(env, settings);
  else settings.www = env.folder('WWW');
  env.checkOptions();
  return settings;
}

// Load a locked package from the folder it was built into, which is the first argument.
function load(name) {
  const prefix = process.argv[2];
  if (!prefix) return quit(new Refusal('usage: node SCRIPT PREFIX'));
  return createRequire(path.join(prefix, 'package.json'))(name);
}

function readCertificate({ certs }, name) {
  try {
    return fs.readFileSync(path.join(certs, name));
  } catch (error) {
    throw new Refusal(`CERTS: ${error.message}`);
  }
}

// Offers one key exchange group: a second key share would lengthen the handshake.
function clientContext(settings) {
  return tls.createSecureContext({
    ca: readCertificate(settings, 'ca.pem'), minVersion: 'TLSv1.3', ecdhCurve: 'X25519',
  });
}

// A function that appends lines of TLS secrets to SSLKEYLOGFILE, or undefined.
function keyLogger({ keys }) {
  return keys ? (line) => fs.appendFileSync(keys, line) : undefined;
}

module.exports = {
  ALPN, VERSION, clientContext, keyLogger, load, quit, readCertificate, readEnvironment,
};
