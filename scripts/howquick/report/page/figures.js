// The study's figures, drawn from the tables that the paper's are made of.
'use strict';

// By kind, as R/figures/kinds has them.
/** @type {Record<string, (study: Study, figure: Figure) => Node | Promise<Node>>} */
const DRAWN = {
  bars: barsFigure, bytes: bytesFigure, calibration: calibrationFigure, cdf: cdfFigure, consistency: consistencyFigure, curves: curvesFigure, drift: driftFigure,
  failures: failuresFigure, frames: framesFigure, handshake: handshakeFigure, heatmap: heatmapFigure, matrix: matrixFigure, profile: profileFigure,
  scatter: scatterFigure, share: shareFigure, streams: streamsFigure, transfer: transferFigure, tree: treeFigure, window: windowFigure,
};

/**
 * @param {Study} study
 * @param {Figure} figure
 */
async function figureView(study, figure) {
  const heading = h('h3', {}, figure.title || figure.name, figure.paper ? h('small', {}, ` ${figure.paper}`) : null);
  const place = h('div', { class: 'drawing' });
  const drawn = h('a', { href: resultFile(`figures/${study.study}/${figure.name}.svg`) }, 'as printed in the appendix');
  const section = h('section', { class: 'card', id: `figure-${figure.name}` }, heading, figure.caption ? h('p', { class: 'quiet' }, figure.caption) : null, place,
    h('p', { class: 'quiet' }, h('code', {}, `${figure.name} (${figure.kind})`), ' ', drawn));
  place.append(await DRAWN[figure.kind](study, figure));
  return section;
}

/**
 * @param {Study} study
 * @param {Figure} figure
 */
function figureArms(study, figure) {
  return figure.arms && figure.arms !== 'all' ? figure.arms : (figure.arms === 'all' ? study.plan_arms.map((arm) => arm.name) : study.comparison.arms);
}

/**
 * @param {Study} study
 * @param {Figure} figure
 * @param {Cell[]} cells
 * @param {string[]} fallback
 */
function figurePanels(study, figure, cells, fallback) {
  const facet = figure.facet ? listOf(figure.facet) : fallback;
  return [...Map.groupBy(cells, (cell) => (facet.length ? cellTitle(study, cell.name, facet) : ''))];
}

/** @param {Study} study */
function absent(study) {
  return h('p', { class: 'empty' }, `None of its cells was measured at scale ${study.scale}.`);
}
