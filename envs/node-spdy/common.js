// What server and client share: the environment of docs/formats.md, section 2.
'use strict';

const fs = require('node:fs');
const { createRequire } = require('node:module');
const path = require('node:path');
const tls = require('node:tls');

const ALPN = 'spdy/3.1';
const VERSION = 3.1;

// Print why this does not work and end the process at once.
function quit(status, reason) {
  fs.writeSync(2, `node-spdy: ${reason}\n`);
  process.exit(status);
}

function required(name) {
  const value = process.env[name];
  if (!value) quit(1, `environment variable ${name} is not set`);
  return value;
}

function requiredNumber(name, least) {
  const value = Number(required(name));
  if (!Number.isInteger(value) || value < least) quit(1, `${name} ${process.env[name]}: use a number from ${least}`);
  return value;
}

// End with 127 for what node-spdy does not have.
function checkSupported() {
  const { PROTOCOL, CONNECTION } = process.env;
  if (PROTOCOL !== 'spdy') quit(127, `PROTOCOL ${PROTOCOL} is not supported; use spdy`);
  if (!['cold', 'resumed'].includes(CONNECTION)) {
    quit(127, `CONNECTION ${CONNECTION} is not supported; use cold or resumed`);
  }
}

// Load a locked package from the folder it was built into, which is the first argument.
function load(name) {
  const prefix = process.argv[2];
  if (!prefix) quit(1, 'usage: node SCRIPT PREFIX');
  return createRequire(path.join(prefix, 'package.json'))(name);
}

function readCertificate(name) {
  const file = path.join(required('CERTS'), name);
  try {
    return fs.readFileSync(file);
  } catch (error) {
    return quit(1, `CERTS: ${error.message}`);
  }
}

// Offers one key exchange group: a second key share would lengthen the handshake.
function clientContext() {
  return tls.createSecureContext({ ca: readCertificate('ca.pem'), minVersion: 'TLSv1.3', ecdhCurve: 'X25519' });
}

// A function that appends lines of TLS secrets to SSLKEYLOGFILE, or undefined.
function keyLogger() {
  const file = process.env.SSLKEYLOGFILE;
  return file ? (line) => fs.appendFileSync(file, line) : undefined;
}

function windowBytes() {
  return requiredNumber('OPTION_WINDOW_BYTES', 65536);
}

module.exports = {
  ALPN, VERSION, checkSupported, clientContext, keyLogger, load, quit, readCertificate, required, requiredNumber,
  windowBytes,
};
