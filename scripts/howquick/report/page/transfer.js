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
  const rows = arms.map((arm) => some.find((row) => row.arm === arm)).filter(Boolean);
  const width = panelWidth(2, 420);
  const left = Math.min(210, width * 0.4);
  const height = rows.length * TRANSFER_ROW + 42;
  const X = scale(extent(rows.map((row) => row.end), { zero: true }), [left, width - 14], { ticks: Math.max(2, Math.floor((width - left) / 90)) });
  const svg = s('svg', { viewBox: `0 0 ${width} ${height}`, width, height, class: 'plot', role: 'img', 'aria-label': `transfer of ${path}` });
  for (const tick of X.ticks) svg.append(s('line', { class: 'gridline', x1: X(tick), x2: X(tick), y1: 0, y2: height - 38 }), s('text', { x: X(tick), y: height - 24, 'text-anchor': 'middle' }, short(tick)));
  svg.append(s('text', { class: 'axis-label', x: (left + width) / 2, y: height - 6, 'text-anchor': 'middle' }, 'seconds since the start of the load'));
  const letters = Math.floor(left / 7.4);
  rows.forEach((row, index) => {
    const y = index * TRANSFER_ROW + TRANSFER_ROW / 2;
    const label = armLabel(study, row.arm);
    svg.append(s('g', { 'data-cell': row.cell, 'data-arm': row.arm, 'data-value': row.end, 'data-start': row.start, 'data-first': row.first },
      s('title', {}, `${label}: asked for at ${milliseconds(row.start)}, first byte ${milliseconds(row.first)}, end ${milliseconds(row.end)}; n = ${row.n}`),
      s('text', { class: 'row-label', x: left - 10, y: y + 4, 'text-anchor': 'end' }, label.length > letters ? `${label.slice(0, letters - 1)}…` : label),
      s('line', { class: 'axis', x1: X(row.start), x2: X(row.first), y1: y, y2: y }),
      s('line', { class: 'transfer', x1: X(row.first), x2: X(row.end), y1: y, y2: y }),
      s('circle', { class: 'request', cx: X(row.start), cy: y, r: 4 }),
      s('line', { class: 'error', x1: X(row.end), x2: X(row.end), y1: y - 8, y2: y + 8 })));
  });
  return svg;
}
