// Axes, points, lines: drawings that follow the theme by their classes.
'use strict';

// Told apart on light and on dark ground; marks differ too.
const COLOURS = ['#3b82c4', '#cf5f28', '#2c9463', '#a15bc0', '#c24a7d', '#8a7a1d', '#35909f', '#7b808a'];
const MARKS = ['circle', 'square', 'diamond', 'triangle'];
// Lines without marks are told apart without colour too; null: solid.
const DASHES = [null, '7 4', '2 3', '9 3 2 3', '12 4', '4 2'];
/** The scales of each drawing: what a place in it means. */
const SCALES = /** @type {WeakMap<Element, { X: Scale, Y: Scale }>} */ (new WeakMap());

/**
 * @param {Study} study
 * @param {string} arm
 */
function armStyle(study, arm) {
  const at = Math.max(study.plan_arms.findIndex((known) => known.name === arm), 0);
  return { colour: COLOURS[at % COLOURS.length], mark: MARKS[Math.floor(at / COLOURS.length + at) % MARKS.length] };
}

/**
 * @param {number} low
 * @param {number} high
 * @param {number} count
 */
function nice(low, high, count) {
  const span = high - low || Math.abs(high) || 1;
  const raw = span / Math.max(count, 1);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= raw);
  const ticks = [];
  for (let at = Math.ceil(low / step - 1e-9); at * step <= high + step * 1e-9; at += 1) ticks.push(Number((at * step).toPrecision(12)));
  return ticks;
}

/**
 * value → pixel, with ticks. Logarithmic only where all is above 0.
 * @param {Pair} from
 * @param {Pair} to
 * @param {{ log?: boolean, ticks?: number }} [options]
 */
function scale([low, high], [from, to], { log = false, ticks = 5 } = {}) {
  if (log && low > 0) {
    const [a, b] = [Math.log10(low), Math.log10(high === low ? high * 1.1 : high)];
    const map = (/** @type {number} */ value) => from + ((Math.log10(value) - a) / (b - a)) * (to - from);
    const steps = [];
    for (let power = Math.floor(a); power <= Math.ceil(b); power += 1) {
      for (const factor of b - a > 3 ? [1] : [1, 2, 5]) {
        const value = Number((factor * 10 ** power).toPrecision(3));
        if (value >= low * 0.999 && value <= high * 1.001) steps.push(value);
      }
    }
    // Within less than a decade there may be none of these.
    map.ticks = steps.length > 2 ? steps : nice(low, high, ticks);
    map.invert = (/** @type {number} */ pixel) => 10 ** (a + ((pixel - from) / (to - from)) * (b - a));
    return map;
  }
  const end = high === low ? low + (Math.abs(low) || 1) : high;
  const map = (/** @type {number} */ value) => from + ((value - low) / (end - low)) * (to - from);
  map.ticks = nice(low, end, ticks);
  map.invert = (/** @type {number} */ pixel) => low + ((pixel - from) / (to - from)) * (end - low);
  return map;
}

/**
 * @param {number[]} values
 * @param {{ zero?: boolean, pad?: number }} [options]
 */
function extent(values, { zero = false, pad = 0.04 } = {}) {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (typeof value === 'number' && Number.isFinite(value)) {
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
 * A frame with axes; draw(svg, X, Y) adds what is in it.
 * @param {{ width: number, height: number, x: Axis, y: Axis, label: string, left?: number }} given
 * @param {(svg: SVGSVGElement, X: Scale, Y: Scale) => void} draw
 */
function chart({ width, height, x, y, label, left = 58 }, draw) {
  const [right, top, bottom] = [14, 10, 40];
  const X = scale(x.domain, [left, width - right], { log: x.log, ticks: Math.max(2, Math.floor(width / 110)) });
  const Y = scale(y.domain, [height - bottom, top], { log: y.log, ticks: Math.max(2, Math.floor(height / 50)) });
  const svg = s('svg', { viewBox: `0 0 ${width} ${height}`, width, height, class: 'plot', role: 'img', 'aria-label': label });
  SCALES.set(svg, { X, Y });
  for (const tick of y.ticks || Y.ticks) {
    svg.append(
      s('line', { class: 'gridline', x1: left, x2: width - right, y1: Y(tick), y2: Y(tick) }),
      s('text', { x: left - 6, y: Y(tick) + 4, 'text-anchor': 'end' }, tickText(tick, y)),
    );
  }
  for (const tick of x.ticks || X.ticks) {
    svg.append(
      s('line', { class: 'gridline', x1: X(tick), x2: X(tick), y1: top, y2: height - bottom }),
      s('text', { x: X(tick), y: height - bottom + 16, 'text-anchor': 'middle' }, tickText(tick, x)),
    );
  }
  svg.append(
    s('line', { class: 'axis', x1: left, x2: width - right, y1: height - bottom, y2: height - bottom }),
    s('text', { class: 'axis-label', x: (left + width - right) / 2, y: height - 5, 'text-anchor': 'middle' }, x.label || ''),
    s('text', { class: 'axis-label', x: -(top + height - bottom) / 2, y: 13, transform: 'rotate(-90)', 'text-anchor': 'middle' }, y.label || ''),
  );
  draw(svg, X, Y);
  return svg;
}

/**
 * @param {number} tick
 * @param {Axis} axis
 */
function tickText(tick, axis) {
  if (axis.names) return axis.names[tick] ?? '';
  if (Math.abs(tick) >= 1e6) return `${short(tick / 1e6)}M`;
  if (Math.abs(tick) >= 1e4) return `${short(tick / 1e3)}k`;
  return short(tick);
}

/**
 * @param {Pair[]} points
 * @param {Scale} X
 * @param {Scale} Y
 * @param {Properties} properties
 */
function polyline(points, X, Y, properties) {
  const path = points.map(([x, y]) => `${X(x).toFixed(1)},${Y(y).toFixed(1)}`).join(' ');
  return s('polyline', { points: path, fill: 'none', 'stroke-width': 1.8, ...properties });
}

/**
 * Steps: the value holds until the next point.
 * @param {Pair[]} points
 */
function steps(points) {
  return points.flatMap(([x, y], index) => (index ? [[x, points[index - 1][1]], [x, y]] : [[x, y]]));
}

/**
 * @param {string} kind
 * @param {number} x
 * @param {number} y
 * @param {number} size
 * @param {Properties} properties
 */
function mark(kind, x, y, size, properties) {
  if (kind === 'square') return s('rect', { x: x - size * 0.88, y: y - size * 0.88, width: size * 1.76, height: size * 1.76, ...properties });
  if (kind === 'diamond') return s('path', { d: `M${x},${y - size * 1.25}l${size * 1.25},${size * 1.25}l${-size * 1.25},${size * 1.25}l${-size * 1.25},${-size * 1.25}z`, ...properties });
  if (kind === 'triangle') return s('path', { d: `M${x},${y - size * 1.2}l${size * 1.15},${size * 2}h${-size * 2.3}z`, ...properties });
  return s('circle', { cx: x, cy: y, r: size, ...properties });
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

/** @param {Entry[]} entries */
function legend(entries) {
  return h('ul', { class: 'legend' }, entries.map(({ label, colour, mark: kind = 'square', edge, href }) => h('li', {},
    s('svg', { width: 14, height: 14, 'aria-hidden': 'true' }, mark(kind, 7, 7, 4.5, { fill: colour, stroke: edge ? 'currentColor' : null })),
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
  const main = document.getElementById('main');
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
