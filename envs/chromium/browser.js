// A browser with a fresh profile: starting and ending it.
'use strict';

const { execFileSync, spawn } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const { DevTools } = require('./devtools.js');
const { Refusal } = require('./contract');

// Debian's `chromium` is a script that adds flags and extensions of its own.
const DEBIAN = '/usr/lib/chromium/chromium';
const CLOSE_PATIENCE_MS = 3000;
const NET_LOG = 'netlog.json';
const NET_LOG_MB = 64;
// STATE, as a path of few letters: the name of a socket in it may have 107.
const SHORT_STATE = '/proc/self/cwd';

// What a browser does by itself and a load must not contain.
const QUIET = [
  '--no-first-run', '--no-default-browser-check', '--disable-default-apps', '--disable-extensions',
  '--disable-background-networking', '--disable-component-update', '--disable-sync',
  '--disable-domain-reliability', '--disable-client-side-phishing-detection', '--disable-breakpad',
  '--disable-crash-reporter', '--disable-field-trial-config', '--disable-search-engine-choice-screen',
  '--no-pings', '--no-service-autorun', '--metrics-recording-only', '--mute-audio', '--no-proxy-server',
  '--allow-browser-signin=false', '--password-store=basic',
];
const FEATURES_OFF = [
  'AutofillServerCommunication', 'CertificateTransparencyComponentUpdater', 'DialMediaRouteProvider',
  'HttpsUpgrades', 'InterestFeedContentSuggestions', 'LocalNetworkAccessChecks', 'MediaRouter',
  'NetworkTimeServiceQuerying', 'OptimizationGuideModelDownloading', 'OptimizationHints', 'Translate',
];
const PREFERENCES = {
  net: { network_prediction_options: 2 }, // no connection before one is asked for
  safebrowsing: { enabled: false },
  search: { suggest_enabled: false },
  signin: { allowed: false, allowed_on_next_startup: false },
};

function program() {
  return fs.existsSync(DEBIAN) ? DEBIAN : 'chromium';
}

// Make the profile, with the test CA as an authority of this user: HOME is the private folder.
function prepareProfile({ state, authority }) {
  const store = path.join(state, '.pki', 'nssdb');
  fs.mkdirSync(store, { recursive: true });
  const certutil = (...argv) => execFileSync('certutil', ['-d', `sql:${store}`, ...argv], { stdio: 'pipe' });
  try {
    certutil('-N', '--empty-password');
    certutil('-A', '-t', 'C,,', '-n', 'test CA', '-i', authority);
  } catch (error) {
    throw new Refusal(`certutil cannot store the test CA: ${error.stderr || error.message}`.trim());
  }
  const profile = path.join(state, 'profile');
  fs.mkdirSync(path.join(profile, 'Default'), { recursive: true });
  fs.writeFileSync(path.join(profile, 'Default', 'Preferences'), JSON.stringify(PREFERENCES));
  return profile;
}

function protocolFlags({ protocol, host, port, maxUdpPayload }) {
  // Also lets QUIC trust a CA that is not among the public ones.
  const quic = [`--origin-to-force-quic-on=${host}:${port}`];
  if (maxUdpPayload) quic.push(`--quic-max-packet-length=${maxUdpPayload}`);
  return { h1: ['--disable-quic', '--disable-http2'], h2: ['--disable-quic'], h3: quic }[protocol];
}

function flags(settings, profile) {
  const { host, address, artifacts, keys, netLog } = settings;
  return [
    '--headless=new', '--remote-debugging-pipe', `--user-data-dir=${profile}`, '--disable-gpu',
    '--hide-scrollbars', '--disable-dev-shm-usage', ...QUIET, `--disable-features=${FEATURES_OFF.join(',')}`,
    // Every other name is unknown without a question to anyone.
    `--host-resolver-rules=MAP ${host} ${address}, MAP * ~NOTFOUND, EXCLUDE ${address}`,
    ...protocolFlags(settings),
    ...(settings.way === 'objects' ? ['--blink-settings=imagesEnabled=false'] : []),
    // The sandbox needs another user than root, and a user namespace may have no other.
    ...(process.geteuid() === 0 ? ['--no-sandbox'] : []),
    ...(keys ? [`--ssl-key-log-file=${keys}`] : []),
    ...(artifacts && netLog
      ? [`--log-net-log=${path.join(artifacts, NET_LOG)}`, `--net-log-max-size-mb=${NET_LOG_MB}`]
      : []),
    'about:blank',
  ];
}

// A running browser; `devtools` speaks to it.
class Browser {
  constructor(settings) {
    const log = fs.openSync(path.join(settings.state, 'browser.log'), 'a');
    const env = { PATH: process.env.PATH, HOME: settings.state, TMPDIR: SHORT_STATE, LC_ALL: 'C.UTF-8' };
    // In this process's group, so that a signal to the group reaches it and its helpers.
    this.process = spawn(program(), flags(settings, prepareProfile(settings)), {
      cwd: settings.state, env, stdio: ['ignore', log, log, 'pipe', 'pipe'],
    });
    fs.closeSync(log);
    this.ended = new Promise((resolve) => {
      this.process.once('exit', resolve);
      this.process.once('error', (error) => {
        this.devtools.close(error.message);
        resolve();
      });
    });
    this.devtools = new DevTools(this.process.stdio[3], this.process.stdio[4]);
  }

  // Attach to the page that the browser opened at its start; resolves with its session.
  async firstPage() {
    const { targetInfos } = await this.devtools.send('Target.getTargets');
    const { targetId } = targetInfos.find(({ type }) => type === 'page');
    const attached = await this.devtools.send('Target.attachToTarget', { targetId, flatten: true });
    return attached.sessionId;
  }

  // End it gently, so that it closes connections and the net-log; by force if that takes long.
  async close() {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    this.devtools.send('Browser.close').catch(() => {});
    const late = setTimeout(() => this.kill(), CLOSE_PATIENCE_MS);
    await this.ended;
    clearTimeout(late);
  }

  kill() {
    this.process.kill('SIGKILL');
  }
}

module.exports = { Browser, NET_LOG, program };
