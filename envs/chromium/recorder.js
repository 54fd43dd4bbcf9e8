// What the browser reports of a load, event by event.
'use strict';

const { Refusal } = require('./contract');

// A page that has finished without having asked for everything gets this long to ask.
const LATE_REQUEST_MS = 1000;

// Times of the events are seconds of the monotonic clock.
class Recorder {
  constructor(settings) {
    this.settings = settings;
    this.wanted = settings.urls.map((url) => url.pathname);
    this.messages = [];
    this.resources = new Map();
    // When the load event fired; a script's load has none.
    this.loaded = settings.way === 'all' ? 0 : null;
    this.finished = new Promise((resolve, reject) => Object.assign(this, { resolve, reject }));
    this.finished.catch(() => {}); // awaited later; without this an early failure would end the process
  }

  take({ method, params }) {
    this.messages.push({ method, params });
    if (method === 'Network.requestWillBeSent') this.#requested(params);
    if (method === 'Page.loadEventFired') this.#onLoad(params.timestamp);
    const resource = this.resources.get(params.requestId);
    if (!resource) return;
    if (method === 'Network.responseReceived') resource.response = params.response;
    if (method === 'Network.dataReceived') resource.bytes += params.dataLength;
    if (method === 'Network.loadingFailed') this.#failed(resource, params);
    if (method === 'Network.loadingFinished') {
      resource.end = params.timestamp;
      this.#check();
    }
  }

  // The resource of a path of REQUESTS.
  of(path) {
    return [...this.resources.values()].find((resource) => resource.path === path);
  }

  #requested({ requestId, request, timestamp, wallTime }) {
    const url = new URL(request.url);
    if (url.protocol !== 'https:') return;
    const asked = this.settings.urls.find((one) => one.href === url.href);
    // An icon that no page names is blocked, and never part of a load.
    if (!asked && url.pathname !== '/favicon.ico') {
      this.reject(new Refusal(`the page asked for ${url.href}, which is not one of REQUESTS`));
    }
    if (asked) {
      this.resources.set(requestId, { requestId, path: url.pathname, timestamp, wallTime, bytes: 0 });
    }
  }

  #failed({ path }, { errorText, canceled }) {
    const what = canceled ? 'was given up by the browser' : 'failed';
    this.reject(new Refusal(`${path} over ${this.settings.protocol} ${what}: ${errorText}`));
  }

  #onLoad(timestamp) {
    this.loaded = timestamp;
    this.#check();
    setTimeout(() => {
      const missing = this.wanted.filter((path) => !this.of(path));
      if (missing.length) this.reject(new Refusal(`the page never asked for ${missing.join(', ')}`));
    }, LATE_REQUEST_MS).unref();
  }

  #check() {
    if (this.loaded !== null && this.wanted.every((path) => this.of(path)?.end)) this.resolve();
  }
}

module.exports = { Recorder };
