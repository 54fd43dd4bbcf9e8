// Points that lead somewhere: elements while they are few, a canvas where so many elements would take seconds.
'use strict';

const MOST_ELEMENTS = 400;
// How near a pointer has to come, in pixels.
const REACH = 9;

/**
 * A drawing with points. On a canvas they answer to the pointer; whoever uses the keyboard finds the same loads in the table of
 * the page. `total` counts the points of all drawings of the page.
 * @param {Chart} given
 * @param {Point[]} points
 * @param {number} [total]
 * @returns {Element}
 */
function withPoints(given, points, total = points.length) {
  if (total <= MOST_ELEMENTS) return chart({ ...given, marks: [...given.marks, pointMark(points)] });
  const svg = chart(given);
  return h('div', { class: 'layers' }, svg, pointCanvas(svg, points));
}

/** @param {Point[]} points */
function pointMark(points) {
  return Plot.dot(points, {
    x: 'x', y: 'y', r: { value: 'size', scale: null }, symbol: (/** @type {Point} */ { mark = 'circle' }) => SYMBOLS[mark], strokeWidth: 1.5, className: 'dot',
    fill: ({ hollow, colour }) => (hollow ? 'none' : colour), stroke: ({ edge, colour }) => edge || colour,
    ...told(points, ({ href, title }) => ({ href: href(), title: title() })),
  });
}

/**
 * @param {Drawing} svg
 * @param {Point[]} points
 */
function pointCanvas(svg, points) {
  const { width, height } = svg.viewBox.baseVal;
  const canvas = h('canvas', { role: 'img', 'aria-label': `${svg.getAttribute('aria-label')}: ${points.length} points` });
  const density = Math.max(devicePixelRatio || 1, 1);
  canvas.width = width * density;
  canvas.height = height * density;
  canvas.style.width = `${width}px`;
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
  context.scale(density, density);
  // The theme's own colour: an edge stands out on light and on dark ground.
  const text = getComputedStyle(document.body).color;
  const [X, Y] = [scaleIn(svg, 'x'), scaleIn(svg, 'y')];
  const places = points.map((point) => ({ point, x: X.apply(point.x), y: Y.apply(point.y) }));
  for (const place of places) paint(context, place, text);
  const nearest = (/** @type {MouseEvent} */ event) => {
    const shown = width / canvas.clientWidth;
    const [x, y] = [event.offsetX * shown, event.offsetY * shown];
    /** @type {Point | null} */
    let best = null;
    let least = REACH * shown;
    for (const place of places) {
      const distance = Math.hypot(place.x - x, place.y - y);
      if (distance < least) [best, least] = [place.point, distance];
    }
    return best;
  };
  canvas.addEventListener('mousemove', (event) => {
    const point = nearest(event);
    canvas.title = point ? point.title() : '';
    canvas.style.cursor = point ? 'pointer' : '';
  });
  canvas.addEventListener('click', (event) => {
    const point = nearest(event);
    if (point) location.hash = point.href();
  });
  return canvas;
}

/**
 * A scale that a drawing has, since its chart names a domain.
 * @param {Drawing} svg
 * @param {'x' | 'y'} name
 */
function scaleIn(svg, name) {
  return /** @type {PlotScale} */ (svg.scale(name));
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {{ point: Point, x: number, y: number }} place
 * @param {string} text
 */
function paint(context, { point: { mark = 'circle', size, colour, hollow, edge }, x, y }, text) {
  context.save();
  context.translate(x, y);
  context.beginPath();
  symbol(SYMBOLS[mark], symbolSize(size)).context(context)();
  context.restore();
  context.fillStyle = colour;
  if (!hollow) context.fill();
  context.strokeStyle = edge ? text : colour;
  context.lineWidth = 1.5;
  context.stroke();
}
