// What programs in JavaScript share of docs/formats.md, section 2: linked into their folders as `contract`.
'use strict';

const { once } = require('node:events');
const fs = require('node:fs');
const net = require('node:net');
const readline = require('node:readline');

const NOT_SUPPORTED = 127;
const OPTION = 'OPTION_';
const MOST_MOVES = 1000;

// Why a program ends early: one line that the user is to read, and the exit status.
class Refusal extends Error {
  constructor(reason, status = 1) {
    super(reason);
    this.status = status;
  }
}

const notSupported = (reason) => new Refusal(reason, NOT_SUPPORTED);

// Variables of the environment, checked and typed. Every method but `optional` throws a Refusal that names its variable.
class Environment {
  constructor(variables) {
    this.variables = variables;
    this.options = new Set();
  }

  optional(name) {
    return this.variables[name] || undefined;
  }

  required(name) {
    const value = this.optional(name);
    if (value === undefined) throw new Refusal(`${name} is not set (docs/formats.md, section 2)`);
    return value;
  }

  // One word out of those that the program knows; `otherwise` where it may be absent.
  supported(name, known, otherwise) {
    const value = otherwise === undefined ? this.required(name) : this.optional(name) ?? otherwise;
    if (!known.includes(value)) throw notSupported(`${name} ${value} is not supported; use ${known.join(' or ')}`);
    return value;
  }

  wholeNumber(name, least, most, otherwise) {
    const text = otherwise === undefined ? this.required(name) : this.optional(name) ?? String(otherwise);
    const value = /^-?\d+$/.test(text) ? Number(text) : NaN;
    if (!(value >= least && value <= most)) {
      throw new Refusal(`${name} ${text}: use a whole number from ${least} to ${most}`);
    }
    return value;
  }

  folder(name) {
    const folder = this.required(name);
    if (!fs.statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
      throw new Refusal(`${name} ${folder} is not a folder`);
    }
    return folder;
  }

  // The variable of an option, by its name in endpoint.yaml.
  option(name) {
    const variable = `${OPTION}${name.toUpperCase()}`;
    this.options.add(variable);
    this.required(variable);
    return variable;
  }

  optionSupported(name, known) {
    return this.supported(this.option(name), known);
  }

  optionNumber(name, least, most) {
    return this.wholeNumber(this.option(name), least, most);
  }

  // True or false, in any case: Python writes True, YAML true.
  optionSwitch(name) {
    const variable = this.option(name);
    const word = this.required(variable);
    if (!['true', 'false'].includes(word.toLowerCase())) throw new Refusal(`${variable} ${word}: use true or false`);
    return word.toLowerCase() === 'true';
  }

  // Throws for an option that was given and that nobody has asked for by now.
  checkOptions() {
    const unknown = Object.keys(this.variables).find((name) => name.startsWith(OPTION) && !this.options.has(name));
    if (unknown) throw notSupported(`${unknown} is not supported: there is no such option`);
  }
}

// What both roles are told. able: {protocol: {connection: [words], control: [words] or undefined, the kernel's}}.
function readSettings(env, able) {
  const protocol = env.supported('PROTOCOL', Object.keys(able));
  const { connection, control } = able[protocol];
  const address = env.required('ADDRESS');
  if (!net.isIPv4(address)) throw new Refusal(`ADDRESS ${address} is not an IPv4 address`);
  if (control) env.supported('CONGESTION_CONTROL', control);
  else env.required('CONGESTION_CONTROL');
  return {
    protocol,
    connection: env.supported('CONNECTION', connection),
    host: env.required('HOST'),
    address,
    port: env.wholeNumber('PORT', 1, 65535),
    certs: env.folder('CERTS'),
    state: env.folder('STATE'),
    keys: env.optional('SSLKEYLOGFILE'),
  };
}

function urlOf(word, host) {
  const url = URL.canParse(word) ? new URL(word) : undefined;
  // URL gives a path to what has none.
  if (url?.protocol !== 'https:' || url.hostname !== host || !/^https:\/\/[^/]+\//.test(word)) {
    throw new Refusal(`REQUESTS: ${word} is not https://${host}/…`);
  }
  return url;
}

// What a client, which cannot move, is to load.
function readLoad(env, { host }) {
  const urls = env.required('REQUESTS').split(' ').filter(Boolean).map((word) => urlOf(word, host));
  if (urls.length === 0) throw new Refusal('REQUESTS names no URL');
  const moves = env.wholeNumber('MOVES', 0, MOST_MOVES, 0);
  if (moves > 0) throw notSupported(`MOVES ${moves} is not supported; use 0`);
  return {
    urls,
    timing: env.required('TIMING'),
    sequential: env.supported('FETCH', ['page', 'sequential'], 'page') === 'sequential',
    hashed: env.supported('BODY', ['sha256', 'length'], 'sha256') === 'sha256',
  };
}

// Say that only the load is left to do, and wait for the word.
async function passGate() {
  fs.writeSync(1, 'ready\n');
  const lines = readline.createInterface({ input: process.stdin });
  const [line] = await Promise.race([once(lines, 'line'), once(lines, 'close')]);
  lines.close();
  if (line !== 'go') throw new Refusal(`stdin: expected the line go, got '${line ?? ''}'`);
}

// Write TIMING whole: under another name first.
function writeTiming(file, timing) {
  try {
    fs.writeFileSync(`${file}.part`, JSON.stringify(timing, null, 1));
    fs.renameSync(`${file}.part`, file);
  } catch (error) {
    throw new Refusal(`TIMING ${error.message}`);
  }
}

// Print one line, "PROGRAM: reason", and end the process at once.
function refuse(program, error) {
  fs.writeSync(2, `${program}: ${error.message.split('\n')[0]}\n`);
  process.exit(error.status ?? 1);
}

module.exports = { Environment, Refusal, passGate, readLoad, readSettings, refuse, writeTiming };
