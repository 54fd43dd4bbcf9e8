// The metric against another column of the table of runs, one panel per arm, with the rank correlation.
'use strict';

/**
 * @param {Study} study
 * @param {Figure} figure
 */
async function scatterFigure(study, figure) {
  const metric = metricOf(study, figure);
  const cells = selected(study, figure.cells);
  if (!cells.length) return absent(study);
  const column = String(figure.x);
  const told = howquick.rows(study.tables.figure_correlations).filter((row) => row.figure === figure.name);
  const arms = figureArms(study, figure);
  const found = (await Promise.all(cells.map(async (cell) => {
    const rows = howquick.rows((await howquick.load(`${study.study}/c${study.cell_names.indexOf(cell.name)}`)).runs);
    return arms.map((arm) => ({
      cell, arm, said: told.find((row) => row.cell === cell.name && row.arm === arm),
      rows: rows.filter((row) => row.arm === arm && row.status === 'ok' && finite(row[column]) && finite(row[metric.column])),
    }));
  }))).flat().flatMap(({ said, ...one }) => (one.rows.length && said && said.n ? [{ ...one, said }] : []));
  if (!found.length) return h('p', { class: 'empty' }, `No load has ${column}.`);
  const all = found.flatMap(({ rows }) => rows);
  const x = { domain: extent(all.map((row) => row[column]), { zero: true }), label: column.replaceAll('_', ' ') };
  const y = { domain: extent(all.map((row) => row[metric.column]), { zero: true }), label: withUnit(metric) };
  const names = varying(study, cells);
  const list = found.map((one) => {
    const title = [armLabel(study, one.arm), names.length ? h('small', {}, ` ${cellTitle(study, one.cell.name, names)}`) : null, h('div', {}, correlationText(one.said))];
    return { title, content: scatterPlot(study, figure, one, { x, y, total: all.length, width: panelWidth(found.length, 280) }) };
  });
  const without = told.reduce((sum, row) => sum + (cells.some((cell) => cell.name === row.cell) ? row.without : 0), 0);
  return h('div', {}, panels(list), h('p', { class: 'quiet' }, `ρ: Spearman's rank correlation with its bootstrap interval; dashed: least squares.${without ? ` Without any ${column.replaceAll('_', ' ')}: ${without} load${without === 1 ? '' : 's'}.` : ''}`));
}

/** @param {Row} row of figure_correlations.csv */
function correlationText(row) {
  if (!finite(row.rho)) return `n = ${row.n}`;
  const two = (/** @type {unknown} */ value) => (finite(value) ? (Math.round(value * 100) / 100 + 0).toFixed(2).replace('-', '−') : '—');
  return h('span', { 'data-arm': row.arm, 'data-cell': row.cell, 'data-value': row.rho, 'data-low': row.low, 'data-high': row.high }, `ρ = ${two(row.rho)} [${two(row.low)}, ${two(row.high)}], n = ${row.n}`);
}

/**
 * @param {Study} study
 * @param {Figure} figure
 * @param {{ cell: Cell, arm: string, said: Row, rows: Row[] }} one
 * @param {{ x: Axis, y: Axis, total: number, width: number }} given
 */
function scatterPlot(study, figure, { cell, arm, said, rows }, { x, y, total, width }) {
  const points = rows.map((row) => ({
    x: row[String(figure.x)], y: row[metricOf(study, figure).column], ...armStyle(study, arm), size: 4.5, href: () => loadRoute(study, cell.name, row), title: () => `${armLabel(study, arm)}, repetition ${row.repetition}`,
  }));
  const values = points.map(({ x: value }) => value);
  const ends = [Math.min(...values), Math.max(...values)].map((value) => pair(value, said.intercept + said.slope * value));
  const marks = finite(said.rho) && finite(said.slope) ? [lineMark(ends, { stroke: 'currentColor', strokeDasharray: '5 4' }, { 'data-arm': arm })] : [];
  return withPoints({ label: `${figureTitle(figure)}: ${armLabel(study, arm)}`, width, height: 260, x, y, marks }, points, total);
}
