// Which single loads figures of details are drawn from.
'use strict';

/**
 * The first finished load of each arm in a cell that has rows in a table of details, as R/read/loads.R chooses it.
 * @param {Study} study
 * @param {string} cell
 * @param {string[]} arms
 * @param {string} table
 * @returns {Promise<Shown[]>}
 */
async function firstDetails(study, cell, arms, table) {
  const number = study.cell_names.indexOf(cell);
  /** @type {CellPage} */
  const page = await howquick.load(`${study.study}/c${number}`);
  const rows = howquick.rows(page.runs);
  const there = (page.tables && page.tables[table]) || [];
  const found = [];
  for (const arm of arms) {
    const own = there.filter((index) => rows[index].arm === arm && rows[index].status === 'ok').sort((a, b) => rows[a].repetition - rows[b].repetition);
    if (!own.length) continue;
    const items = howquick.rows((await howquick.load(`${study.study}/${number}/${own[0]}`))[table]);
    found.push({ cell, arm, row: rows[own[0]], items });
  }
  return found;
}

/**
 * The same of all cells of a figure.
 * @param {Study} study
 * @param {Figure} figure
 * @param {string} table
 */
async function figureDetails(study, figure, table) {
  const arms = figureArms(study, figure);
  return (await Promise.all(selected(study, figure.cells).map((cell) => firstDetails(study, cell.name, arms, table)))).flat();
}

/**
 * Of the cells that have rows the last: the largest page.
 * @param {Shown[]} found
 */
function lastCell(found) {
  const having = found.filter(({ items }) => items.length);
  const last = having.at(-1);
  return having.filter(({ cell }) => last && cell === last.cell);
}

/**
 * What tells a panel of one arm apart: its label, and the cell where there are several.
 * @param {Study} study
 * @param {Shown} shown
 * @param {Cell[]} cells
 */
function shownTitle(study, { cell, arm, row }, cells) {
  const names = varying(study, cells);
  return [link([study.study, cell, arm, String(row.repetition)], armLabel(study, arm)), names.length ? h('small', {}, ` ${cellTitle(study, cell, names)}`) : null];
}

function noDetails() {
  return h('p', { class: 'empty' }, 'No details of these loads are in this folder.');
}
