// Start, first byte and end of one object: medians of all loads of an arm.
'use strict';

const TRANSFER_ROW = 26;

/**
 * @param {Study} study
 * @param {Figure} figure
 */
function transferFigure(study, figure) {
  const cells = selected(study, figure.cells);
  const rows = howquick.rows(study.tables.figure_transfers).filter((row) => row.figure === figure.name);
  const shown = cells.map((cell) => ({ cell, some: rows.filter((row) => row.cell === cell.name) })).filter(({ some }) => some.length);
  if (!shown.length) return cells.length ? noDetails() : absent(study);
  const names = varying(study, shown.map(({ cell }) => cell));
  const list = shown.map(({ cell, some }) => ({
    title: link([study.study, cell.name], names.length ? cellTitle(study, cell.name, names) : cell.name), content: transferPlot(study, some, figureArms(study, figure), String(figure.path)),
  }));
  const counts = rows.map((row) => row.n);
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  return h('div', {}, panels(list), h('p', { class: 'quiet' }, `${figure.path}. Circle: request; thin: waiting; thick: first to last byte. Medians, n = ${least === most ? most : `${least} to ${most}`} loads.`));
}

/**
 * @param {Study} study
 * @param {Row[]} some of figure_transfers.csv
 * @param {string[]} arms
 * @param {string} path
 */
function transferPlot(study, some, arms, path) {
  const rows = arms.flatMap((arm) => some.filter((row) => row.arm === arm));
  const width = panelWidth(2, 420);
  const places = rows.map((_, index) => index);
  const at = (/** @type {number} */ by) => (/** @type {Row} */ row) => rows.indexOf(row) + by;
  const said = (/** @type {Row} */ row) => ({
    'data-cell': row.cell, 'data-arm': row.arm, 'data-value': row.end, 'data-start': row.start, 'data-first': row.first,
    title: `${armLabel(study, row.arm)}: asked for at ${milliseconds(row.start)}, first byte ${milliseconds(row.first)}, end ${milliseconds(row.end)}; n = ${row.n}`,
  });
  return chart({
    label: `transfer of ${path}`, width, height: rows.length * TRANSFER_ROW + 54, left: Math.min(210, width * 0.4),
    x: { domain: extent(rows.map((row) => row.end), { zero: true }), label: 'seconds since the start of the load' },
    y: { ...rowAxis(places, rows.map((row) => armLabel(study, row.arm)), [rows.length - 0.5, -0.5]), bare: true },
    marks: [
      Plot.ruleY(rows, { x1: 'start', x2: 'first', y: at(0), className: 'axis' }),
      Plot.ruleY(rows, { x1: 'first', x2: 'end', y: at(0), strokeWidth: 9, className: 'transfer', ...told(rows, said) }),
      Plot.dot(rows, { x: 'start', y: at(0), r: 4, className: 'request' }),
      Plot.ruleX(rows, { x: 'end', y1: at(-0.3), y2: at(0.3), className: 'error' }),
    ],
  });
}
