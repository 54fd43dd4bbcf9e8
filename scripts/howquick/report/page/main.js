// From an address to a page; keys; theme.
'use strict';

const THEMES = ['system', 'light', 'dark'];

/** @param {string} [value] */
function stored(value) {
  try {
    if (value) localStorage.setItem('howquick-theme', value);
    return localStorage.getItem('howquick-theme');
  } catch {
    return value || null;
  }
}

/** @param {string} theme */
function setTheme(theme) {
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

function header() {
  let theme = THEMES.includes(stored()) ? stored() : 'system';
  setTheme(theme);
  const button = h('button', { type: 'button', class: 'theme', onclick: () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
    stored(theme);
    setTheme(theme);
    button.textContent = `theme: ${theme}`;
  } }, `theme: ${theme}`);
  document.getElementById('top').append(h('a', { href: '#/', class: 'home' }, 'howquick'), h('span', { class: 'grow' }), button);
  document.getElementById('foot').append('Numbers are those of the tables in the results folder; hover one for all its digits. Keys: ', h('kbd', {}, 'u'), ' one level up, ', h('kbd', {}, 'Tab'), ' and ', h('kbd', {}, 'Enter'), ' through everything else.');
}

/** @param {Route} route */
function pageOf(route) {
  const [study, cell, arm, repetition] = route.parts;
  if (!study) return studiesPage();
  if (!cell) return studyPage(route);
  if (!arm) return cellPage(route);
  if (!repetition) return cellPage({ ...route, parts: [study, cell] });
  return loadPage(route);
}

let shown = 0;
let shownPath = '';

/** Shows what the address says; an answer that comes after a later address is left out. */
async function show() {
  if (location.hash === '#main') return;
  const mine = ++shown;
  const route = parseRoute(location.hash);
  const main = document.getElementById('main');
  let content;
  try {
    content = await pageOf(route);
  } catch (error) {
    content = h('div', {}, h('h1', {}, 'Not here'), h('p', { class: 'empty' }, error.message), h('p', {}, link([], 'All studies')));
  }
  if (mine !== shown) return;
  const path = route.parts.join('/');
  const kept = path === shownPath ? scrollY : 0;
  shownPath = path;
  main.replaceChildren(content);
  main.dataset.ready = location.hash || '#/';
  scrollTo(0, kept);
  if (kept === 0) main.focus({ preventScroll: true });
}

/** @param {KeyboardEvent} event */
function onKey(event) {
  if (event.key !== 'u' || event.ctrlKey || event.metaKey || event.altKey || /INPUT|SELECT|TEXTAREA/.test(/** @type {Element} */ (event.target).tagName)) return;
  const { parts } = parseRoute(location.hash);
  // An arm alone has no page of its own.
  if (parts.length) location.hash = routeTo(parts.slice(0, parts.length === 4 ? 2 : -1));
}

let resizing = 0;
header();
addEventListener('hashchange', show);
addEventListener('keydown', onKey);
addEventListener('resize', () => {
  clearTimeout(resizing);
  resizing = setTimeout(show, 150);
});
show();
