// The environment of docs/formats.md, section 2, checked.
'use strict';

const fs = require('node:fs');

// The name by which the DevTools protocol knows each protocol.
const SPOKEN = { h1: 'http/1.1', h2: 'h2', h3: 'h3' };
const CONTROLS = { h1: ['cubic', 'bbr', 'reno'], h2: ['cubic', 'bbr', 'reno'], h3: ['cubic'] };
const NOT_SUPPORTED = 127;

// An end that the user is to read: its message is the reason, its status the exit status.
class Refusal extends Error {
  constructor(reason, status = 1) {
    super(reason);
    this.status = status;
  }
}

function required(name) {
  const value = process.env[name];
  if (!value) throw new Refusal(`environment variable ${name} is not set`);
  return value;
}

function oneOf(name, known, fallback) {
  const value = process.env[name] ?? fallback;
  if (!known.includes(value)) {
    throw new Refusal(`${name} ${value} is not supported; use ${known.join(' or ')}`, NOT_SUPPORTED);
  }
  return value;
}

function flag(name) {
  const value = (process.env[name] ?? 'true').toLowerCase();
  if (!['true', 'false'].includes(value)) throw new Refusal(`${name} ${value}: use true or false`);
  return value === 'true';
}

function wholeNumber(name, least, most, fallback) {
  const text = fallback === undefined ? required(name) : process.env[name] ?? fallback;
  const value = Number(text);
  if (!Number.isInteger(value) || value < least || value > most) {
    throw new Refusal(`${name} ${text}: use a whole number from ${least} to ${most}`);
  }
  return value;
}

function readable(file) {
  try {
    fs.accessSync(file, fs.constants.R_OK);
  } catch (error) {
    throw new Refusal(`CERTS: ${error.message}`);
  }
  return file;
}

// Who asks for the objects: the `page` by its HTML, or a `script`: of `all`, or of all `objects` but the HTML.
function wayOf({ urls, sequential, loadBy }) {
  const [first, ...others] = urls.map((url) => url.pathname);
  if (sequential || !/(\.html|\/)$/.test(first)) return 'all';
  if (loadBy !== 'auto') return loadBy === 'page' ? 'page' : 'objects';
  // Random bytes under the names of pictures: a browser breaks off what it cannot decode.
  return others.length > 0 && others.every((path) => path.startsWith('/objects/')) ? 'objects' : 'page';
}

// Everything a load needs. Throws Refusal for what is missing, wrong or not supported.
function readSettings() {
  const protocol = oneOf('PROTOCOL', Object.keys(SPOKEN));
  oneOf('CONGESTION_CONTROL', CONTROLS[protocol]);
  oneOf('CONNECTION', ['cold']);
  const settings = {
    protocol,
    spoken: SPOKEN[protocol],
    host: required('HOST'),
    address: required('ADDRESS'),
    port: wholeNumber('PORT', 1, 65535),
    authority: readable(`${required('CERTS')}/ca.pem`),
    state: required('STATE'),
    timing: required('TIMING'),
    urls: required('REQUESTS').split(' ').map((url) => new URL(url)),
    sequential: oneOf('FETCH', ['page', 'sequential'], 'page') === 'sequential',
    loadBy: oneOf('OPTION_LOAD_BY', ['auto', 'page', 'script'], 'auto'),
    hashed: oneOf('BODY', ['sha256', 'length'], 'sha256') === 'sha256',
    artifacts: process.env.ARTIFACTS,
    keys: process.env.SSLKEYLOGFILE,
    speedIndex: flag('OPTION_SPEED_INDEX'),
    netLog: flag('OPTION_NET_LOG'),
    maxUdpPayload: wholeNumber('OPTION_MAX_UDP_PAYLOAD', 0, 65527, '0'),
  };
  return { ...settings, way: wayOf(settings) };
}

module.exports = { Refusal, readSettings };
