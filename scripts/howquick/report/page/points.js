// Points that lead somewhere: elements while they are few, a canvas where so many elements would take seconds.
'use strict';

const MOST_ELEMENTS = 400;
// How near a pointer has to come, in pixels.
const REACH = 9;

/**
 * `svg` with its points: [{x, y, mark, size, colour, hollow, href(), title()}]. On a canvas they answer to the pointer; whoever uses
 * the keyboard finds the same loads in the table of the page. `total` counts the points of all drawings of the page.
 * @param {SVGSVGElement} svg
 * @param {Point[]} points
 * @param {number} [total]
 * @returns {Element}
 */
function withPoints(svg, points, total = points.length) {
  if (total <= MOST_ELEMENTS) {
    for (const { x, y, mark: kind, size, colour, hollow, edge, href, title } of points) {
      svg.append(pointLink(href(), title(), mark(kind || MARKS[0], x, y, size, { fill: hollow ? 'none' : colour, stroke: edge || colour, 'stroke-width': 1.5, class: 'dot' })));
    }
    return svg;
  }
  const { width, height } = svg.viewBox.baseVal;
  const canvas = /** @type {HTMLCanvasElement} */ (h('canvas', { role: 'img', 'aria-label': `${svg.getAttribute('aria-label')}: ${points.length} points` }));
  const density = Math.max(devicePixelRatio || 1, 1);
  canvas.width = width * density;
  canvas.height = height * density;
  canvas.style.width = `${width}px`;
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
  context.scale(density, density);
  // The theme's own colour: an edge stands out on light and on dark ground.
  const text = getComputedStyle(document.body).color;
  for (const point of points) paint(context, point, text);
  const nearest = (/** @type {MouseEvent} */ event) => {
    const shown = width / canvas.clientWidth;
    const [x, y] = [event.offsetX * shown, event.offsetY * shown];
    /** @type {Point | null} */
    let best = null;
    let least = REACH * shown;
    for (const point of points) {
      const distance = Math.hypot(point.x - x, point.y - y);
      if (distance < least) [best, least] = [point, distance];
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
  return h('div', { class: 'layers' }, svg, canvas);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Point} point
 * @param {string} text
 */
function paint(context, { x, y, mark: kind, size, colour, hollow, edge }, text) {
  context.beginPath();
  if (kind === 'square') context.rect(x - size * 0.88, y - size * 0.88, size * 1.76, size * 1.76);
  else if (kind === 'diamond') corners(context, [[x, y - size * 1.25], [x + size * 1.25, y], [x, y + size * 1.25], [x - size * 1.25, y]]);
  else if (kind === 'triangle') corners(context, [[x, y - size * 1.2], [x + size * 1.15, y + size * 0.8], [x - size * 1.15, y + size * 0.8]]);
  else context.arc(x, y, size, 0, 2 * Math.PI);
  context.fillStyle = colour;
  if (!hollow) context.fill();
  context.strokeStyle = edge ? text : colour;
  context.lineWidth = 1.5;
  context.stroke();
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Pair[]} places
 */
function corners(context, places) {
  places.forEach(([x, y], index) => (index ? context.lineTo(x, y) : context.moveTo(x, y)));
  context.closePath();
}
