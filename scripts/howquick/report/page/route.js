// What is shown is what the address says behind #: /study/cell/arm/repetition/packet?choice=value.
'use strict';

/**
 * An address that is none of ours, such as that of a place within the page, is the first page's.
 * @param {string} hash
 */
function parseRoute(hash) {
  const [path, query = ''] = (hash.startsWith('#/') ? hash.slice(1) : '').split('?');
  const parts = path.split('/').filter(Boolean).map(decode);
  /** @type {Record<string, string>} */
  const choices = {};
  for (const pair of query.split('&').filter(Boolean)) {
    const [name, value = ''] = pair.split('=');
    choices[decode(name)] = decode(value);
  }
  return { parts, choices };
}

/** @param {string} text */
function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * @param {string[]} parts
 * @param {Record<string, any>} [choices]
 */
function routeTo(parts, choices = {}) {
  const query = Object.entries(choices)
    .filter(([, value]) => value !== '' && value !== null && value !== undefined)
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
  return `#/${parts.map((part) => encodeURIComponent(part)).join('/')}${query.length ? `?${query.join('&')}` : ''}`;
}

/**
 * @param {string[]} parts
 * @param {Child} text
 * @param {Record<string, any>} [choices]
 * @param {Properties} [properties]
 */
function link(parts, text, choices, properties = {}) {
  return h('a', { href: routeTo(parts, choices), ...properties }, text);
}

/**
 * Go on with some choices changed; the browser's back button undoes it.
 * @param {Route} route
 * @param {Record<string, string>} changes
 */
function choose(route, changes) {
  location.hash = routeTo(route.parts, { ...route.choices, ...changes });
}
