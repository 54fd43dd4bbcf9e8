// Drawings by Observable Plot, which follow the theme by their classes; legends, and where drawings have their place.
'use strict';

const { Plot, evenly, symbol, symbolCircle, symbolDiamond2, symbolSquare, symbolTriangle } = libraries;

// Told apart on light and on dark ground; marks differ too.
const COLOURS = ['#3b82c4', '#cf5f28', '#2c9463', '#a15bc0', '#c24a7d', '#8a7a1d', '#35909f', '#7b808a'];
/** @type {MarkName[]} */
const MARKS = ['circle', 'square', 'diamond', 'triangle'];
const SYMBOLS = { circle: symbolCircle, square: symbolSquare, diamond: symbolDiamond2, triangle: symbolTriangle };
// Lines without marks are told apart without colour too.
const DASHES = ['none', '7 4', '2 3', '9 3 2 3', '12 4', '4 2'];
// So many times wider than Plot takes letters to be, they are in some fonts: a label is cut a little earlier.
const LETTER_SHARE = 1.15;
// Of a text on an axis, pixels.
const DIGIT_WIDTH = 6.5;

/**
 * @param {Study} study
 * @param {string} arm
 */
function armStyle(study, arm) {
  const at = Math.max(study.plan_arms.findIndex((known) => known.name === arm), 0);
  return { colour: COLOURS[at % COLOURS.length], mark: MARKS[Math.floor(at / COLOURS.length + at) % MARKS.length] };
}

/**
 * @param {number} x
 * @param {number} y
 * @returns {Pair}
 */
function pair(x, y) {
  return [x, y];
}

/**
 * Least and most of the finite ones, with some room.
 * @param {unknown[]} values
 * @param {{ zero?: boolean, pad?: number }} [options]
 * @returns {Pair}
 */
function extent(values, { zero = false, pad = 0.04 } = {}) {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (finite(value)) {
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  }
  if (low > high) return [0, 1];
  if (zero) low = Math.min(low, 0);
  const room = (high - low || Math.abs(high) || 1) * pad;
  return [zero && low === 0 ? 0 : low - room, high + room];
}

/**
 * A drawing of marks alone; what a place in it means, `drawing.scale('x')` tells.
 * @param {string} label
 * @param {PlotOptions} options
 */
function drawing(label, options) {
  const svg = /** @type {Drawing} */ (Plot.plot({ className: 'plot', ariaLabel: label, ...options }));
  // The page's policy allows no style within it: what it says is in style.css.
  svg.querySelector('style')?.remove();
  svg.setAttribute('role', svg.querySelector('a') ? 'group' : 'img');
  return svg;
}

/**
 * A drawing with axes.
 * @param {Chart} given
 */
function chart({ label, width, height, left = 58, x, y, marks }) {
  const [tickSize, right] = [0, 14];
  /** @type {{ labelAnchor: 'center', labelArrow: 'none' }} */
  const named = { labelAnchor: 'center', labelArrow: 'none' };
  const [across, down] = [withRoom(ticksOf(x, (width - left) / 100), x, width - left - right), ticksOf(y, height / 50)];
  const grid = { className: 'gridline', strokeOpacity: 1 };
  return drawing(label, {
    width, height, marginLeft: left, marginRight: right, marginTop: 10, marginBottom: 40,
    x: { domain: x.domain, type: x.log ? 'log' : 'linear' }, y: { domain: y.domain, type: y.log ? 'log' : 'linear' },
    marks: [
      Plot.gridX({ ticks: across, ...grid }), y.bare ? null : Plot.gridY({ ticks: down, ...grid }), Plot.frame({ anchor: 'bottom', className: 'axis' }),
      Plot.axisX({ ...named, labelOffset: 34, label: x.label ?? null, ticks: across, tickSize, tickFormat: tickFormat(x) }),
      Plot.axisY({ ...named, label: y.label ?? null, ticks: down, tickSize, tickFormat: tickFormat(y), ...(y.names ? { className: 'row-label', lineWidth: left / 12 / LETTER_SHARE, textOverflow: y.cut || 'ellipsis' } : {}) }),
      ...marks,
    ],
  });
}

/**
 * Whether an axis is logarithmic within less than a decade, in which its library finds few numbers that are round.
 * @param {Axis} axis
 */
function isNarrow({ log, domain: [low, high] }) {
  return Boolean(log) && high < 10 * low;
}

/**
 * The numbers that stand on an axis, or how many shall.
 * @param {Axis} axis
 * @param {number} count
 */
function ticksOf(axis, count) {
  const some = Math.max(2, Math.floor(count));
  return axis.ticks ?? (isNarrow(axis) ? evenly(...axis.domain, some) : some);
}

/**
 * Those of the numbers across whose texts have room beside each other, from the least on.
 * @param {number[] | number} ticks
 * @param {Axis} axis
 * @param {number} width
 */
function withRoom(ticks, axis, width) {
  if (typeof ticks === 'number' || axis.log || axis.names) return ticks;
  const [low, high] = axis.domain;
  let free = -Infinity;
  return ticks.filter((tick) => {
    const [middle, half] = [width * (tick - low) / (high - low), tickText(tick, axis).length * DIGIT_WIDTH / 2];
    const fits = middle - half >= free;
    if (fits) free = middle + half + DIGIT_WIDTH;
    return fits;
  });
}

/**
 * How an axis writes its numbers; a logarithmic one leaves some out, as its library does.
 * @param {Axis} axis
 */
function tickFormat(axis) {
  return axis.log && !isNarrow(axis) ? '.3~r' : (/** @type {number} */ tick) => tickText(tick, axis);
}

/**
 * @param {number} tick
 * @param {Axis} [axis]
 */
function tickText(tick, axis) {
  if (axis?.names) return axis.names[tick] ?? '';
  if (Math.abs(tick) >= 1e6) return `${short(tick / 1e6)}M`;
  if (Math.abs(tick) >= 1e4) return `${short(tick / 1e3)}k`;
  return short(tick);
}

/**
 * An axis of rows from the top, each with its text.
 * @param {number[]} places
 * @param {string[]} texts
 * @param {Pair} domain
 * @returns {Axis}
 */
function rowAxis(places, texts, domain) {
  return { domain, ticks: places, names: Object.fromEntries(places.map((place, index) => [place, texts[index]])) };
}

/**
 * What Plot has no channel for, as an option of a mark: of each element its attributes and its title. With `href` they are
 * those of a link around it.
 * @template D
 * @param {D[]} data of the mark; of a line or an area the first tells
 * @param {(datum: D) => Properties} tell
 * @returns {{ render: RenderFunction }}
 */
function told(data, tell) {
  return { render: (index, scales, values, dimensions, context, next) => {
    const group = next ? next(index, scales, values, dimensions, context) : null;
    // Ends of arrows are defined beside what has them.
    [...(group ? group.children : [])].filter(({ tagName }) => tagName !== 'marker').forEach((element, at) => {
      const { title, ...properties } = tell(data[index[at]]);
      const words = title === undefined ? null : s('title', {}, String(title));
      if (properties.href === undefined) fill(/** @type {SVGElement} */ (element), properties, [words]);
      else {
        const anchor = s('a', { 'aria-label': title, ...properties }, words);
        element.replaceWith(anchor);
        anchor.append(element);
      }
    });
    return group;
  } };
}

/**
 * A line through points, with attributes.
 * @param {Pair[]} points
 * @param {LineOptions} options
 * @param {Properties} properties
 */
function lineMark(points, options, properties) {
  return Plot.line(points, { className: 'line', strokeWidth: 1.8, ...options, ...told(points, () => properties) });
}

/**
 * A point that leads somewhere.
 * @param {string} href
 * @param {string} title
 * @param {Node} shape
 */
function pointLink(href, title, shape) {
  return s('a', { href, 'aria-label': title }, s('title', {}, title), shape);
}

/** @param {number} radius of a circle of the same area */
function symbolSize(radius) {
  return Math.PI * radius ** 2;
}

/** @param {Entry[]} entries */
function legend(entries) {
  return h('ul', { class: 'legend' }, entries.map(({ label, colour, mark = 'square', edge, opacity, href }) => h('li', {},
    s('svg', { width: 14, height: 14, 'aria-hidden': 'true' }, s('path', { d: symbol(SYMBOLS[mark], symbolSize(4.5))(), transform: 'translate(7,7)', fill: colour, 'fill-opacity': opacity, stroke: edge ? 'currentColor' : null })),
    href ? h('a', { href }, label) : label)));
}

/**
 * @param {Study} study
 * @param {string[]} arms
 */
function armLegend(study, arms) {
  return legend(arms.map((arm) => ({ label: armLabel(study, arm), ...armStyle(study, arm) })));
}

/**
 * How wide drawings may be, and how wide one of several side by side is.
 * @param {number} [most]
 */
function room(most = 1500) {
  const main = part('main');
  const { paddingLeft, paddingRight } = getComputedStyle(main);
  return Math.floor(Math.max(280, Math.min(main.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight), most)));
}

/**
 * @param {number} count
 * @param {number} [least]
 */
function panelWidth(count, least = 330) {
  // Without what a card and the gaps between panels take (style.css).
  const [gap, inside] = [36, room(2400) - 44];
  const columns = Math.max(1, Math.min(count, Math.floor((inside + gap) / (least + gap))));
  return Math.min(720, Math.floor((inside - gap * (columns - 1)) / columns));
}

/** @param {Panel[]} list */
function panels(list) {
  return h('div', { class: 'panels' }, list.map(({ title, content }) => h('figure', {}, h('figcaption', {}, title), content)));
}
