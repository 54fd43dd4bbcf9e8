// From an address to a page; keys; theme.
'use strict';

const THEMES = ['system', 'light', 'dark'];

/** @param {string} [value] */
function stored(value) {
  try {
    if (value) localStorage.setItem('howquick-theme', value);
    return localStorage.getItem('howquick-theme') || '';
  } catch {
    return value || '';
  }
}

/**
 * A part of index.html.
 * @param {string} id
 */
function part(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id));
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
  part('top').append(h('a', { href: '#/', class: 'home' }, 'howquick'), h('span', { class: 'grow' }), button);
  part('foot').append('Numbers are those of the tables in the results folder; hover one for all its digits. Keys: ', h('kbd', {}, 'u'), ' one level up, ', h('kbd', {}, 'Tab'), ' and ', h('kbd', {}, 'Enter'), ' through everything else.');
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
/** @type {string | null} */
let shownPath = null;

/**
 * What has the focus, as it can be found again in a page drawn anew; null where nothing in the page has it.
 * @param {Element} main
 */
function focused(main) {
  const element = document.activeElement;
  if (!element || element === main || !main.contains(element)) return null;
  const href = element.getAttribute('href');
  return element.id ? `#${CSS.escape(element.id)}` : href ? `a[href="${CSS.escape(href)}"]` : null;
}

/** Shows what the address says; an answer that comes after a later address is left out. */
async function show() {
  const mine = ++shown;
  const route = parseRoute(location.hash);
  const main = part('main');
  let content;
  try {
    content = await pageOf(route);
  } catch (error) {
    content = h('div', {}, h('h1', {}, 'Not here'), h('p', { class: 'empty' }, error instanceof Error ? error.message : String(error)), h('p', {}, link([], 'All studies')));
  }
  if (mine !== shown) return;
  const path = route.parts.join('/');
  const same = path === shownPath;
  const [kept, inside, place] = [same ? scrollY : 0, main.contains(document.activeElement), same ? focused(main) : null];
  shownPath = path;
  main.replaceChildren(content);
  main.dataset.ready = location.hash || '#/';
  scrollTo(0, kept);
  // Whoever uses keys goes on where they were; on another page, at its beginning.
  const found = place && main.querySelector(place);
  if (found) found.focus({ preventScroll: true });
  else if (!same || inside) main.focus({ preventScroll: true });
}

/** @param {KeyboardEvent} event */
function onKey(event) {
  if (event.key !== 'u' || event.ctrlKey || event.metaKey || event.altKey || /INPUT|SELECT|TEXTAREA/.test(/** @type {Element} */ (event.target).tagName)) return;
  const { parts } = parseRoute(location.hash);
  // An arm alone has no page of its own.
  if (parts.length) location.hash = routeTo(parts.slice(0, parts.length === 4 ? 2 : -1));
}

/** @type {HTMLDetailsElement[]} */
let unfolded = [];

/** Paper cannot be opened: what is folded is printed as if it were open. */
function unfold() {
  unfolded = [];
  // What is opened may hold more that is folded.
  for (let closed = foldedIn(); closed.length; closed = foldedIn()) {
    for (const details of closed) {
      details.open = true;
      // Some are filled when they are opened, of which the browser tells after the printing.
      details.dispatchEvent(new Event('toggle'));
      unfolded.push(details);
    }
  }
}

function foldedIn() {
  return /** @type {HTMLDetailsElement[]} */ ([...document.querySelectorAll('details:not([open])')]);
}

function fold() {
  for (const details of unfolded) details.open = false;
  unfolded = [];
}

/**
 * Leads to the content without another address: the address is what is shown.
 * @param {Event} event
 */
function skip(event) {
  event.preventDefault();
  const main = part('main');
  main.scrollIntoView();
  main.focus({ preventScroll: true });
}

let resizing = 0;
header();
/** @type {HTMLElement} */ (document.querySelector('.skip')).addEventListener('click', skip);
addEventListener('hashchange', show);
addEventListener('keydown', onKey);
addEventListener('beforeprint', unfold);
addEventListener('afterprint', fold);
addEventListener('resize', () => {
  clearTimeout(resizing);
  resizing = setTimeout(show, 150);
});
show();
