// Questions that several pages ask of a study: cells, arms, what the statistics say of them.
'use strict';

/**
 * @param {Study} study
 * @param {string} name
 */
function armLabel(study, name) {
  const arm = study.plan_arms.find((known) => known.name === name);
  return (arm && arm.label) || name;
}

/**
 * A factor by its name; those that a page asks for are the study's own.
 * @param {Study} study
 * @param {string} name
 */
function factorOf(study, name) {
  return /** @type {Factor} */ (study.factors.find((factor) => factor.name === name));
}

/**
 * @param {Study} study
 * @param {string} name
 */
function cellOf(study, name) {
  return study.plan_cells.find((cell) => cell.name === name) || { name, values: {}, levels: {} };
}

/**
 * @param {Factor} factor
 * @param {Cell} cell
 */
function factorLevel(factor, cell) {
  const value = cell.values[factor.name];
  if (typeof value === 'number') return factor.unit === '%' || !factor.unit ? `${value}${factor.unit ? ' %' : ''}` : `${value} ${factor.unit}`;
  const level = factor.levels.find((known) => known.name === cell.levels[factor.name]);
  return String((level && level.label) || value || cell.levels[factor.name] || '');
}

/**
 * @param {Factor} factor
 * @param {Level} level
 */
function levelText(factor, level) {
  if (level.label) return level.label;
  const value = level.value ?? level.name;
  return typeof value === 'number' && factor.unit ? `${value} ${factor.unit}` : String(value);
}

/**
 * @param {Study} study
 * @param {string} name
 * @param {string[]} [only]
 */
function cellTitle(study, name, only) {
  const cell = cellOf(study, name);
  const words = study.factors
    .filter((factor) => cell.levels[factor.name] !== undefined && (!only || only.includes(factor.name)))
    .map((factor) => `${factor.label} ${factorLevel(factor, cell)}`);
  return words.join(', ') || name;
}

/**
 * @param {Study} study
 * @param {Chosen | undefined} [selection]
 */
function selected(study, selection) {
  const measured = new Set(study.measured);
  const cells = study.plan_cells.filter((cell) => measured.has(cell.name));
  if (!selection) return cells;
  if (Array.isArray(selection)) return cells.filter((cell) => selection.includes(cell.name));
  return cells.filter((cell) => Object.entries(selection).every(([factor, wanted]) => {
    const list = Array.isArray(wanted) ? wanted : [wanted];
    return list.some((one) => one === cell.values[factor] || one === cell.levels[factor]);
  }));
}

/**
 * @param {Study} study
 * @param {Cell[]} cells
 */
function varying(study, cells) {
  return study.factors.filter((factor) => new Set(cells.map((cell) => cell.levels[factor.name])).size > 1).map((factor) => factor.name);
}

/**
 * Of the study's own metric: summary.csv by cell and arm.
 * @param {Study} study
 */
function summaryOf(study) {
  if (!study.summaryIndex) {
    study.summaryIndex = new Map(howquick.rows(study.tables.summary).map((row) => [`${row.cell} ${row.arm}`, row]));
  }
  return study.summaryIndex;
}

// What the processor would add to a load in virtual time: from this share on it is marked, as in R/read/processor.R.
const COSTLY_SHARE = 0.1;
const COSTLY = '†';
const COSTLY_KEY = `${COSTLY}: more than ${100 * COSTLY_SHARE} % of the load.`;

/** @param {Row | undefined} row a row of the summary */
function isCostly(row) {
  return row !== undefined && row.processor_share > COSTLY_SHARE;
}

/** @param {Study} study */
function comparisonOf(study) {
  if (!study.comparisonIndex) {
    study.comparisonIndex = new Map(howquick.rows(study.tables.comparisons).map((row) => [`${row.cell} ${row.a} ${row.b}`, row]));
  }
  return study.comparisonIndex;
}

/**
 * Medians of any column: Map of "cell arm" → {median, low, high, n}.
 * @param {Study} study
 * @param {string} column
 */
async function mediansOf(study, column) {
  if (!column || column === study.metric.column) return summaryOf(study);
  const at = study.medians.indexOf(column);
  if (at < 0) return new Map();
  const found = await howquick.load(`${study.study}/m${at}`);
  return new Map(howquick.rows(found.medians).map((row) => [`${row.cell} ${row.arm}`, row]));
}

/**
 * One, several or none as a list.
 * @param {string | string[] | null | undefined} value
 * @returns {string[]}
 */
function listOf(value) {
  return value ? (Array.isArray(value) ? value : [value]) : [];
}

/**
 * @template T
 * @param {T | null | undefined} value
 * @returns {value is T}
 */
function isThere(value) {
  return value !== null && value !== undefined;
}

/** @param {Figure} figure */
function figureTitle(figure) {
  return figure.title || figure.name;
}

/**
 * @param {Study} study
 * @param {Figure} figure
 */
function metricOf(study, figure) {
  return (figure && figure.metric) || study.metric;
}

/** @param {Metric} metric */
function withUnit(metric) {
  return metric.unit ? `${metric.label} (${metric.unit})` : metric.label;
}

/**
 * @param {unknown} value
 * @returns {value is number}
 */
function finite(value) {
  return typeof value === 'number' && Number.isFinite(value);
}

/**
 * A number of a table: text says that it is infinite, nothing that it is not known.
 * @param {unknown} value
 */
function amount(value) {
  if (value === 'Inf') return Infinity;
  return typeof value === 'number' ? value : NaN;
}

/**
 * Medians of a figure with their intervals, by "cell arm": the statistics have those of a metric of its own in a table of their own.
 * @param {Study} study
 * @param {Figure} figure
 */
function figureMedians(study, figure) {
  if (!figure.metric) return summaryOf(study);
  return new Map(howquick.rows(study.tables.figure_medians).filter((row) => row.figure === figure.name).map((row) => [`${row.cell} ${row.arm}`, row]));
}
