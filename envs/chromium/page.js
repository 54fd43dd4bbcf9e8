// The page of a browser: made ready, loaded, looked at.
'use strict';

const { Refusal } = require('./contract');

const VIEW = { width: 1366, height: 768, deviceScaleFactor: 1, mobile: false };
const TRACED = ['-*', 'devtools.timeline', 'disabled-by-default-devtools.screenshot', 'loading'];
const BODIES_BYTES = 2 ** 29;

// Runs in the page. Resolves when every picture is decoded and the last frame had time to be drawn and recorded.
async function settle() {
  await Promise.all([...document.images].map((image) => image.decode().catch(() => {})));
  for (let frame = 0; frame < 3; frame += 1) await new Promise(requestAnimationFrame);
  await new Promise((done) => { setTimeout(done, 100); });
}

// Runs in the page. All URLs at once, or one after the other, or the first `alone` before the others.
async function fetchAll(urls, sequential, keep, alone) {
  const get = async (url) => {
    const answer = await fetch(url, { cache: 'no-store' });
    if (keep) return answer.arrayBuffer();
    const reader = answer.body.getReader();
    while (!(await reader.read()).done);
    return null;
  };
  if (alone) await get(urls.shift());
  if (sequential) for (const url of urls) await get(url);
  else await Promise.all(urls.map(get));
}

class Page {
  constructor(browser, settings) {
    this.browser = browser;
    this.settings = settings;
    // Whether it is loaded as a user's browser would, so that what appears on the screen means something.
    this.isSeen = settings.way === 'page';
    this.traced = [];
  }

  send(method, params) {
    return this.browser.devtools.send(method, params, this.session);
  }

  // Resolve with the next event of a name.
  next(name) {
    return new Promise((resolve) => {
      const take = ({ method, params }) => {
        if (method !== name) return;
        this.browser.devtools.off('event', take);
        resolve(params);
      };
      this.browser.devtools.on('event', take);
    });
  }

  // Everything that is not the load.
  async prepare() {
    this.session = await this.browser.firstPage();
    const kept = this.settings.hashed ? BODIES_BYTES : 1;
    await this.send('Network.enable', {
      // Bodies as they came, also of images that do not decode.
      enableDurableMessages: this.settings.hashed,
      maxTotalBufferSize: kept,
      maxResourceBufferSize: kept,
    });
    await this.send('Network.setBlockedURLs', { urls: ['*/favicon.ico'] });
    await this.send('Page.enable');
    await this.send('Emulation.setDeviceMetricsOverride', VIEW);
    if (this.settings.way === 'all') await this.#standIn();
    if (this.settings.way === 'objects') await this.#fetchLater();
    if (this.isSeen && this.settings.speedIndex) await this.#startTrace();
  }

  // A script may fetch from its own origin only: show an empty page of it, which never leaves the browser.
  async #standIn() {
    await this.send('Fetch.enable', { patterns: [{ urlPattern: '*' }] });
    const paused = this.next('Fetch.requestPaused');
    const shown = this.next('Page.loadEventFired');
    const navigated = this.send('Page.navigate', { url: new URL('/empty', this.settings.urls[0]).href });
    await this.send('Fetch.fulfillRequest', {
      requestId: (await paused).requestId,
      responseCode: 200,
      responseHeaders: [{ name: 'Content-Type', value: 'text/html' }],
      body: Buffer.from('<link rel="icon" href="data:,">').toString('base64'),
    });
    await navigated;
    await shown;
    await this.send('Fetch.disable');
  }

  // Have the page's own script fetch the objects as soon as the HTML is complete.
  async #fetchLater() {
    const call = this.#fetching(this.settings.urls.slice(1));
    await this.send('Page.addScriptToEvaluateOnNewDocument', {
      source: `addEventListener('DOMContentLoaded', () => ${call});`,
    });
  }

  #fetching(urls) {
    const { sequential, hashed, way } = this.settings;
    return `(${fetchAll})(${JSON.stringify(urls.map(String))}, ${sequential}, ${hashed}, ${way === 'all'})`;
  }

  async #startTrace() {
    this.browser.devtools.on('event', ({ method, params }) => {
      if (method === 'Tracing.dataCollected') this.traced.push(...params.value);
    });
    await this.send('Tracing.start', {
      transferMode: 'ReportEvents', traceConfig: { recordMode: 'recordAsMuchAsPossible', includedCategories: TRACED },
    });
  }

  // Load what is asked; resolves once the recorder has everything. Throws Refusal with the reason.
  async load(recorder) {
    const { devtools } = this.browser;
    devtools.on('event', (message) => recorder.take(message));
    devtools.once('closed', () => recorder.reject(new Refusal('the browser ended during the load')));
    const { urls, way } = this.settings;
    const begun = way === 'all'
      ? this.evaluate(this.#fetching(urls)) : this.send('Page.navigate', { url: urls[0].href });
    begun.catch((error) => recorder.reject(error));
    await recorder.finished;
  }

  async evaluate(expression) {
    const { result, exceptionDetails } = await this.send('Runtime.evaluate', {
      expression, awaitPromise: true, returnByValue: true,
    });
    if (exceptionDetails) {
      throw new Refusal(`the page: ${exceptionDetails.exception?.description ?? exceptionDetails.text}`);
    }
    return result.value;
  }

  settle() {
    return this.evaluate(`(${settle})()`);
  }

  // Resolve with the trace's events.
  async stopTrace() {
    const complete = this.next('Tracing.tracingComplete');
    await this.send('Tracing.end');
    await complete;
    return this.traced;
  }

  async body(requestId) {
    const { body, base64Encoded } = await this.send('Network.getResponseBody', { requestId });
    return Buffer.from(body, base64Encoded ? 'base64' : 'utf8');
  }

  // The page as a user sees it, JPEG.
  async screenshot() {
    const { data } = await this.send('Page.captureScreenshot', { format: 'jpeg', quality: 80 });
    return Buffer.from(data, 'base64');
  }
}

module.exports = { Page };
