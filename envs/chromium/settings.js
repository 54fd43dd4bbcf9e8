// The environment of docs/formats.md, section 2, checked.
'use strict';

const fs = require('node:fs');
const {
  Environment, Refusal, readLoad, readSettings: readCommon,
} = require('./contract');

// The name by which the DevTools protocol knows each protocol.
const SPOKEN = { h1: 'http/1.1', h2: 'h2', h3: 'h3' };
const COLD = ['cold'];
const ABLE = { h1: { connection: COLD }, h2: { connection: COLD }, h3: { connection: COLD, control: ['cubic'] } };

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
  const env = new Environment(process.env);
  const common = readCommon(env, ABLE);
  const settings = {
    ...common,
    ...readLoad(env, common),
    spoken: SPOKEN[common.protocol],
    authority: readable(`${common.certs}/ca.pem`),
    loadBy: env.optionSupported('load_by', ['auto', 'page', 'script']),
    artifacts: env.optional('ARTIFACTS'),
    speedIndex: env.optionSwitch('speed_index'),
    netLog: env.optionSwitch('net_log'),
    maxUdpPayload: env.optionNumber('max_udp_payload', 0, 65527),
  };
  env.checkOptions();
  return { ...settings, way: wayOf(settings) };
}

module.exports = { readSettings };
