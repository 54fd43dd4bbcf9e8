// The study's figures, drawn from the tables that the paper's are made of.
'use strict';

// By kind, as R/figures/kinds has them; of a load's details: details.js, of the data's quality: quality.js and links.js.
/** @type {Record<string, (study: Study, figure: Figure) => Node | Promise<Node>>} */
const DRAWN = {
  bars: barsFigure, bytes: timeFigure, calibration: calibrationFigure, cdf: cdfFigure, consistency: consistencyFigure, curves: curvesFigure, drift: driftFigure,
  failures: failuresFigure, frames: piecesFigure, handshake: handshakeFigure, heatmap: heatmapFigure, matrix: matrixFigure, profile: profileFigure,
  scatter: scatterFigure, share: shareFigure, streams: piecesFigure, transfer: transferFigure, tree: treeFigure, window: timeFigure,
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
  const facet = [].concat(figure.facet || fallback).filter(Boolean);
  /** @type {Map<string, Cell[]>} */
  const groups = new Map();
  for (const cell of cells) {
    const title = facet.length ? cellTitle(study, cell.name, facet) : '';
    if (!groups.has(title)) groups.set(title, []);
    groups.get(title).push(cell);
  }
  return [...groups];
}

/** @param {Study} study */
function absent(study) {
  return h('p', { class: 'empty' }, `None of its cells was measured at scale ${study.scale}.`);
}

/**
 * Values of one metric of the finished loads of a cell, by arm.
 * @param {Study} study
 * @param {string} cell
 * @param {string} column
 */
async function valuesOf(study, cell, column) {
  const light = study.metric.column === column ? howquick.rows(study.runs).filter((row) => row.cell === cell)
    : howquick.rows((await howquick.load(`${study.study}/c${study.cell_names.indexOf(cell)}`)).runs);
  return light.filter((row) => row.status === 'ok' && finite(row[column]));
}

/**
 * @param {Study} study
 * @param {Figure} figure
 */
async function cdfFigure(study, figure) {
  const metric = metricOf(study, figure);
  const cells = selected(study, figure.cells);
  if (!cells.length) return absent(study);
  const arms = figureArms(study, figure);
  const list = [];
  for (const [title, some] of figurePanels(study, figure, cells, varying(study, cells))) {
    const rows = (await Promise.all(some.map((cell) => valuesOf(study, cell.name, metric.column)))).flat();
    list.push({ title: h('span', {}, some.length === 1 ? link([study.study, some[0].name], title || some[0].name) : title),
      content: ecdf(study, rows, arms, metric, panelWidth(cells.length)) });
  }
  return h('div', {}, legend(arms.map((arm) => ({ label: armLabel(study, arm), ...armStyle(study, arm) }))), panels(list));
}

/**
 * @param {Study} study
 * @param {Row[]} rows
 * @param {string[]} arms
 * @param {Metric} metric
 * @param {number} width
 */
function ecdf(study, rows, arms, metric, width) {
  const of = (/** @type {string} */ arm) => rows.filter((row) => row.arm === arm).map((row) => row[metric.column]).sort((a, b) => a - b);
  const values = rows.filter((row) => arms.includes(row.arm)).map((row) => row[metric.column]);
  return chart({ width, height: 240, x: { domain: extent(values), label: withUnit(metric) }, y: { domain: [0, 1], label: 'share of loads' }, label: `distribution of ${metric.label}` }, (svg, X, Y) => {
    for (const arm of arms) {
      const sorted = of(arm);
      if (!sorted.length) continue;
      const points = steps([[sorted[0], 0], ...sorted.map((value, index) => [value, (index + 1) / sorted.length])]);
      svg.append(polyline(points, X, Y, { stroke: armStyle(study, arm).colour }));
      if (values.length <= MOST_ELEMENTS) sorted.forEach((value, index) => svg.append(mark(armStyle(study, arm).mark, X(value), Y((index + 1) / sorted.length), 3, { fill: armStyle(study, arm).colour })));
    }
  });
}

/**
 * @param {Factor} factor
 * @param {Cell} cell
 */
function position(factor, cell) {
  const value = cell.values[factor.name];
  return typeof value === 'number' ? value : factor.levels.findIndex((level) => level.name === cell.levels[factor.name]);
}

/**
 * @param {Study} study
 * @param {Figure} figure
 */
async function curvesFigure(study, figure) {
  const metric = metricOf(study, figure);
  const cells = selected(study, figure.cells);
  if (!cells.length) return absent(study);
  const factor = study.factors.find((known) => known.name === figure.x) || study.factors[0];
  const arms = figureArms(study, figure);
  const medians = await mediansOf(study, metric.column);
  const numeric = cells.every((cell) => typeof cell.values[factor.name] === 'number');
  const names = numeric ? null : Object.fromEntries(factor.levels.map((level, index) => [index, level.label || level.name]));
  const fixed = [].concat(figure.facet || []);
  const list = figurePanels(study, figure, cells, fixed).map(([title, some]) => {
    const points = (/** @type {string} */ arm) => some.map((cell) => ({ cell, x: position(factor, cell), row: medians.get(`${cell.name} ${arm}`) })).filter(({ row }) => row && finite(row.median)).sort((p, q) => p.x - q.x);
    const all = arms.flatMap(points);
    const picture = chart({
      width: panelWidth(1), height: 280, x: { domain: extent(all.map((point) => point.x)), label: factor.unit ? `${factor.label} (${factor.unit})` : factor.label, names },
      y: { domain: extent(all.flatMap(({ row }) => [row.median, row.low, row.high]), { zero: true }), label: withUnit(metric) }, label: `${metric.label} by ${factor.label}`,
    }, (svg, X, Y) => {
      for (const arm of arms) {
        const { colour, mark: kind } = armStyle(study, arm);
        const some = points(arm);
        svg.append(polyline(some.map(({ x, row }) => [x, row.median]), X, Y, { stroke: colour }));
        for (const { cell, x, row } of some) {
          if (finite(row.low) && finite(row.high)) svg.append(s('line', { x1: X(x), x2: X(x), y1: Y(row.low), y2: Y(row.high), stroke: colour, 'stroke-width': 1.5 }));
          svg.append(pointLink(routeTo([study.study, cell.name]), `${armLabel(study, arm)}, ${cell.name}: ${short(row.median)} ${metric.unit}, n = ${row.n}`, mark(kind, X(x), Y(row.median), 4.5, { fill: colour })));
        }
      }
    });
    return { title, content: picture };
  });
  return h('div', {}, legend(arms.map((arm) => ({ label: armLabel(study, arm), ...armStyle(study, arm) }))), panels(list));
}

/**
 * @param {Study} study
 * @param {Figure} figure
 */
async function barsFigure(study, figure) {
  const metric = metricOf(study, figure);
  const cells = selected(study, figure.cells);
  if (!cells.length) return absent(study);
  const arms = figureArms(study, figure);
  const medians = await mediansOf(study, metric.column);
  const list = figurePanels(study, figure, cells, figure.x ? [] : varying(study, cells)).map(([title, some]) => {
    const bars = arms.flatMap((arm) => some.map((cell) => ({ arm, cell, row: medians.get(`${cell.name} ${arm}`) })).filter(({ row }) => row && finite(row.median)));
    const more = some.length > 1 ? varying(study, some) : [];
    return { title, content: barList(study, bars, metric, more) };
  });
  return panels(list);
}

/**
 * @param {Study} study
 * @param {{ arm: string, cell: Cell, row: Row }[]} bars
 * @param {Metric} metric
 * @param {string[]} factors
 */
function barList(study, bars, metric, factors) {
  const most = Math.max(...bars.map(({ row }) => (finite(row.high) ? row.high : row.median)), 0) || 1;
  return h('table', { class: 'bars' }, h('tbody', {}, bars.map(({ arm, cell, row }) => {
    const bar = h('div', { class: 'bar' });
    bar.style.setProperty('--size', `${(100 * Math.max(row.median, 0)) / most}%`);
    return h('tr', {}, h('th', { scope: 'row' }, armLabel(study, arm), factors.length ? h('small', {}, ` ${cellTitle(study, cell.name, factors)}`) : null),
      h('td', { class: 'bar-place' }, bar), h('td', { class: 'nowrap' }, link([study.study, cell.name], short(row.median)), finite(row.low) ? h('small', {}, ` ${short(row.low)} to ${short(row.high)}`) : null, ` ${metric.unit || ''}`));
  })));
}

/**
 * @param {Study} study
 * @param {Figure} figure
 */
async function matrixFigure(study, figure) {
  const metric = metricOf(study, figure);
  const cells = selected(study, figure.cells);
  if (!cells.length) return absent(study);
  const medians = await mediansOf(study, metric.column);
  const arms = study.plan_arms.filter((arm) => !figure.arms || figure.arms === 'all' || figure.arms.includes(arm.name));
  const list = cells.map((cell) => {
    const measured = arms.filter((arm) => medians.has(`${cell.name} ${arm.name}`));
    const servers = [...new Set(measured.map((arm) => `${arm.protocol} ${arm.server}`))].sort();
    const clients = [...new Set(measured.map((arm) => arm.client))].sort();
    const at = (/** @type {string} */ server, /** @type {string} */ client) => measured.filter((arm) => `${arm.protocol} ${arm.server}` === server && arm.client === client);
    return { title: cellTitle(study, cell.name, varying(study, cells)) || cell.name, content: grid(['server \\ client', ...clients], servers.map((server) => [server, ...clients.map((client) => at(server, client).map((arm) =>
      h('div', {}, link([study.study, cell.name], short(medians.get(`${cell.name} ${arm.name}`).median), { arm: arm.name }, { title: arm.label || arm.name }))))])) };
  });
  return panels(list);
}

/**
 * @param {Study} study
 * @param {Figure} figure
 */
async function scatterFigure(study, figure) {
  const metric = metricOf(study, figure);
  const cells = selected(study, figure.cells);
  if (!cells.length) return absent(study);
  const arms = figureArms(study, figure);
  const list = await Promise.all(cells.map(async (cell) => {
    const page = await howquick.load(`${study.study}/c${study.cell_names.indexOf(cell.name)}`);
    const rows = howquick.rows(page.runs).filter((row) => arms.includes(row.arm) && row.status === 'ok' && finite(row[figure.x]) && finite(row[metric.column]));
    /** @type {Point[]} */
    const points = [];
    const picture = chart({ width: panelWidth(1), height: 300, x: { domain: extent(rows.map((row) => row[figure.x])), label: figure.x.replaceAll('_', ' ') }, y: { domain: extent(rows.map((row) => row[metric.column])), label: withUnit(metric) }, label: figure.title }, (svg, X, Y) => {
      for (const row of rows) {
        points.push({ x: X(row[figure.x]), y: Y(row[metric.column]), ...armStyle(study, row.arm), size: 5, href: () => loadRoute(study, cell.name, row), title: () => `${armLabel(study, row.arm)}, repetition ${row.repetition}` });
      }
    });
    return { title: cellTitle(study, cell.name, varying(study, cells)) || cell.name, content: rows.length ? withPoints(picture, points) : h('p', { class: 'empty' }, `No load has ${figure.x}.`) };
  }));
  return h('div', {}, legend(arms.map((arm) => ({ label: armLabel(study, arm), ...armStyle(study, arm) }))), panels(list));
}

/**
 * @param {Study} study
 * @param {Figure} figure
 */
async function heatmapFigure(study, figure) {
  const metric = metricOf(study, figure);
  const pairs = figure.pairs || study.comparison.pairs;
  const cells = selected(study, figure.cells);
  if (!cells.length) return absent(study);
  const medians = await mediansOf(study, metric.column);
  const comparisons = metric.column === study.metric.column ? comparisonOf(study) : new Map();
  const names = varying(study, cells);
  const columns = (figure.columns || []).at(-1) || names.at(-1) || study.factors[0].name;
  const rows = [...(figure.rows || []), ...(figure.columns || []).slice(0, -1), ...names].filter((name, at, list) => name !== columns && list.indexOf(name) === at);
  return h('div', { class: 'facets' }, pairs.map(([a, b]) => h('div', {}, h('h4', {}, `${armLabel(study, a)} : ${armLabel(study, b)}`),
    heatTable(study, cells, columns, rows, (cell) => tileOf(study, cell, { a, b }, medians, comparisons), figure.name))));
}
