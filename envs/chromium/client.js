// Load one page by Chromium and write TIMING. Reads the environment of docs/formats.md, section 2.
'use strict';

const fs = require('node:fs');
const { createRequire } = require('node:module');
const path = require('node:path');
const { pathToFileURL } = require('node:url');
const { keep } = require('./artifacts.js');
const { Browser } = require('./browser.js');
const {
  Refusal, passGate, refuse, writeTiming,
} = require('./contract');
const { metricsOf, visualProgress } = require('./metrics.js');
const { Page } = require('./page.js');
const { Recorder } = require('./recorder.js');
const { readSettings } = require('./settings.js');
const { startOf, timingOf } = require('./timing.js');

// The locked packages, from the folder they were built into: the first argument.
async function packages() {
  const prefix = process.argv[2];
  if (!prefix) throw new Refusal('usage: node client.js PREFIX');
  const { resolve } = createRequire(path.join(prefix, 'package.json'));
  try {
    const { harFromMessages } = await import(pathToFileURL(resolve('chrome-har')));
    const { default: speedline } = await import(pathToFileURL(resolve('speedline-core')));
    return { harFromMessages, speedline };
  } catch (error) {
    throw new Refusal(`${prefix} is not what build.sh makes: ${error.message}`);
  }
}

// Load, then look: nothing of the looking is part of the load.
async function measure(page, recorder, speedline) {
  await page.load(recorder);
  const start = startOf(recorder);
  let progress;
  let metrics = {};
  if (page.isSeen) {
    await page.settle();
    if (page.settings.speedIndex) progress = await visualProgress(speedline, await page.stopTrace(), start);
    metrics = await metricsOf(page, recorder.loaded, start, progress);
  }
  const timing = await timingOf(recorder, page, metrics);
  return { timing, progress, screenshot: await page.screenshot() };
}

async function main() {
  const settings = readSettings();
  const { harFromMessages, speedline } = await packages();
  if (settings.artifacts) fs.mkdirSync(settings.artifacts, { recursive: true });
  const browser = new Browser(settings);
  process.once('SIGTERM', () => browser.kill());
  try {
    const page = new Page(browser, settings);
    await page.prepare();
    await passGate();
    const recorder = new Recorder(settings);
    const seen = await measure(page, recorder, speedline);
    await browser.close();
    if (settings.artifacts) {
      await keep(settings.artifacts, { ...seen, messages: recorder.messages, harFromMessages, netLog: settings.netLog });
    }
    writeTiming(settings.timing, seen.timing);
  } finally {
    await browser.close();
  }
}

main().then(() => process.exit(0), (error) => refuse('chromium', error));
