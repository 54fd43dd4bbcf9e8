// Elements and texts. Whatever comes from data becomes text or an attribute's value, never markup.
'use strict';

const SVG = 'http://www.w3.org/2000/svg';

/**
 * @template {HTMLElement | SVGElement} E
 * @param {E} element
 * @param {Properties} properties
 * @param {Child[]} children
 * @returns {E}
 */
function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  children.forEach((child) => add(element, child));
  return element;
}

/**
 * @param {Element} element
 * @param {Child} child
 */
function add(element, child) {
  if (Array.isArray(child)) child.forEach((one) => add(element, one));
  else if (child !== null && child !== undefined && child !== false) element.append(typeof child === 'number' ? String(child) : child);
}

/**
 * h('p', {class: 'note'}, 'text', h('b', {}, 'more'))
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Properties} properties
 * @param {...Child} children
 */
function h(tag, properties, ...children) {
  return fill(document.createElement(tag), properties, children);
}

/**
 * The same for drawings.
 * @template {keyof SVGElementTagNameMap} T
 * @param {T} tag
 * @param {Properties} properties
 * @param {...Child} children
 */
function s(tag, properties, ...children) {
  return fill(document.createElementNS(SVG, tag), properties, children);
}

/**
 * Three significant digits, and never fewer than those before the point.
 * @param {unknown} value
 * @param {number} [digits]
 */
function short(value, digits = 3) {
  if (value === null || value === undefined || value === '') return '—';
  if (typeof value !== 'number') return value === 'Inf' ? '∞' : String(value);
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size >= 10 ** digits && size < 1e15) return value.toFixed(0).replace('-', '−');
  if (size < 1e-4) return value.toExponential(digits - 1).replace('-', '−');
  return String(Number(value.toPrecision(digits))).replace('-', '−');
}

/**
 * A number of a table: rounded for reading; data-value has it as the table does.
 * @param {unknown} value
 * @param {string} [unit]
 */
function number(value, unit = '') {
  const text = short(value) + (unit && value !== null && value !== undefined ? ` ${unit}` : '');
  return h('span', { class: 'number', title: value ?? 'not known', 'data-value': value }, text);
}

/**
 * @param {Row} row
 * @param {string} [unit]
 */
function interval(row, unit) {
  const known = row.low !== null && row.low !== undefined && row.high !== null && row.high !== undefined;
  return [number(row.value ?? row.median, unit), known ? [' (', number(row.low), ' to ', number(row.high), ')'] : ''];
}

/** @param {unknown} value */
function percent(value) {
  if (typeof value !== 'number') return '—';
  return `${value > 0 ? '+' : ''}${short(value, Math.abs(value) < 10 ? 2 : 3)} %`;
}

/** @param {unknown} value */
function seconds(value) {
  if (typeof value !== 'number') return '—';
  if (value >= 7200) return `${short(value / 3600)} h`;
  if (value >= 120) return `${short(value / 60)} min`;
  return `${short(value)} s`;
}

/** @param {unknown} value */
function milliseconds(value) {
  return typeof value === 'number' ? `${(value * 1000).toFixed(3)} ms` : '—';
}

/** @param {unknown} value */
function bytes(value) {
  if (typeof value !== 'number') return '—';
  if (value >= 1e6) return `${short(value / 1e6)} MB`;
  if (value >= 1e4) return `${short(value / 1e3)} kB`;
  return `${value} B`;
}

/** @param {number} unix */
function day(unix) {
  return new Date(unix * 1000).toISOString().slice(0, 16).replace('T', ' ') + ' UTC';
}

/**
 * A table of elements: its head, texts or more, and rows of cells; in a box of its own that scrolls.
 * @param {(string | HeadCell)[]} header
 * @param {GridLine[]} lines
 * @param {Properties} [properties]
 */
function grid(header, lines, properties = {}) {
  const heads = header.map((head) => (typeof head === 'string' ? { text: head, properties: {} } : head));
  const body = lines.map((line) => (Array.isArray(line) ? { properties: {}, cells: line } : line)).map((line) => h('tr', line.properties, line.cells.map((cell) => h('td', {}, cell))));
  return h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': properties['aria-label'] || heads.map(({ text }) => text).join(', ') },
    h('table', properties, h('thead', {}, h('tr', {}, heads.map((head) => h('th', { scope: 'col', ...head.properties }, head.text)))), h('tbody', {}, body)));
}

/**
 * What is there to know of something, as name and value.
 * @param {Child[][]} pairs
 */
function facts(pairs) {
  const known = pairs.filter(([, value]) => value !== null && value !== undefined && value !== '');
  return h('dl', { class: 'facts' }, known.map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, value))));
}

/**
 * A choice with a label; `options` are [value, text]. By its id the page finds it again when it is drawn anew.
 * @param {string} label
 * @param {string[][]} options
 * @param {string} chosen
 * @param {(value: string) => void} onchoose
 */
function choice(label, options, chosen, onchoose) {
  const select = h('select', { id: `choose ${label}`.replace(/\W+/g, '-'), onchange: () => onchoose(select.value) },
    options.map(([value, text]) => h('option', { value, selected: value === chosen }, text)));
  return h('label', { class: 'choice' }, h('span', {}, label), select);
}

/**
 * A word as it may stand on a shell's command line.
 * @param {string} word
 */
function quoted(word) {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/**
 * A button that copies a text, which is shown beside it.
 * @param {string} text
 * @param {string} [label]
 */
function copyable(text, label = 'Copy') {
  const button = h('button', { type: 'button', onclick: async () => {
    let done = false;
    try {
      await navigator.clipboard.writeText(text);
      done = true;
    } catch {
      // A page from the disk may not: mark the text, so that the keyboard copies it.
      getSelection()?.selectAllChildren(code);
      done = document.execCommand('copy');
    }
    button.textContent = done ? 'Copied' : 'Marked: copy it';
  } }, label);
  const code = h('code', {}, text);
  return h('div', { class: 'copyable' }, code, button);
}

/**
 * @param {string} text
 * @param {string} kind
 */
function badge(text, kind) {
  return h('span', { class: `badge ${kind}` }, text);
}

/** @type {Record<string, string>} */
const VERDICT_KINDS = {
  supported: 'good', 'not supported': 'bad', undecided: 'open', 'too few loads': 'open', 'not tested at this scale': 'none',
  'not applicable': 'none',
};

/** @param {string} text */
function verdict(text) {
  return badge(text, VERDICT_KINDS[text] || 'none');
}

/** @param {string} text */
function statusBadge(text) {
  return badge(text, { ok: 'good', failed: 'bad', timeout: 'bad', invalid: 'open' }[text] || 'none');
}
