// What a user sees of a load: paints and Speed Index, seconds since the start in TIMING.
'use strict';

const { rounded } = require('./timing.js');

// Runs in the page. Times in milliseconds since its navigation; null for what did not happen.
async function paints() {
  const largest = await new Promise((resolve) => {
    const observer = new PerformanceObserver((list) => resolve(list.getEntries().at(-1).startTime));
    observer.observe({ type: 'largest-contentful-paint', buffered: true });
    setTimeout(() => resolve(null), 200);
  });
  const [navigation] = performance.getEntriesByType('navigation');
  const first = performance.getEntriesByName('first-contentful-paint')[0];
  return { connected: navigation.connectStart, first: first?.startTime ?? null, largest };
}

// Speed Index by speedline-core, the package that Lighthouse computes it with, in the mode that it uses:
// frames between two that differ little are not decoded, or a load of a minute would take another to judge.
async function visualProgress(speedline, traceEvents, start) {
  const options = { timeOrigin: start * 1e6, include: 'speedIndex', fastMode: true };
  return speedline({ traceEvents }, options);
}

// Resolve with `fcp_s`, `lcp_s`, `onload_s` and `speed_index_s`; without those that are not known.
async function metricsOf(page, loaded, start, progress) {
  const { connected, first, largest } = await page.evaluate(`(${paints})()`);
  const since = (time) => (time === null ? undefined : rounded((time - connected) / 1000));
  return {
    fcp_s: since(first),
    lcp_s: since(largest),
    onload_s: rounded(loaded - start),
    speed_index_s: progress ? rounded(progress.speedIndex / 1000) : undefined,
  };
}

module.exports = { metricsOf, visualProgress };
