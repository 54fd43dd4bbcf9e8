// Tables whose rows can be sorted by any column and narrowed down to those with some words. What is chosen is in the address.
'use strict';

const { createTable, getCoreRowModel, getFilteredRowModel, getSortedRowModel } = libraries;
// A table of thousands of rows takes seconds to lay out: it is whole when asked for.
const MOST_ROWS = 100;

/**
 * Numbers by size and before words, words as people order them.
 * @param {unknown} one
 * @param {unknown} other
 */
function inSequence(one, other) {
  const [a, b] = [amount(one), amount(other)];
  const [first, second] = [Number.isNaN(a), Number.isNaN(b)];
  if (first && second) return String(one).localeCompare(String(other), 'en', { numeric: true });
  return first || second ? Number(first) - Number(second) : a === b ? 0 : a - b;
}

/**
 * The rows in the order that is chosen, those with the words that are; what a row does not have comes last.
 * @template R
 * @param {Route} route
 * @param {DataColumn<R>[]} columns
 * @param {R[]} rows
 */
function chosenRows(route, columns, rows) {
  const { sort = '', find = '' } = route.choices;
  const id = sort.replace(/^-/, '');
  const table = createTable({
    data: rows,
    columns: columns.map(({ name, value }) => ({
      id: name, accessorFn: (/** @type {R} */ row) => value(row) ?? undefined, sortUndefined: /** @type {'last'} */ ('last'),
      sortingFn: (/** @type {TableRow<R>} */ one, /** @type {TableRow<R>} */ other, /** @type {string} */ column) => inSequence(one.getValue(column), other.getValue(column)),
    })),
    state: {}, onStateChange: () => {}, renderFallbackValue: null,
    globalFilterFn: 'includesString', getColumnCanGlobalFilter: () => true,
    getCoreRowModel: getCoreRowModel(), getFilteredRowModel: getFilteredRowModel(), getSortedRowModel: getSortedRowModel(),
  });
  const sorting = columns.some(({ name }) => name === id) ? [{ id, desc: sort.startsWith('-') }] : [];
  table.setOptions((options) => ({ ...options, state: { ...table.initialState, sorting, globalFilter: find } }));
  return table.getRowModel().rows.map((row) => row.original);
}

/**
 * A table's head: each column's button sorts up, then down, then not. `place` tells buttons of several tables apart.
 * @template R
 * @param {Route} route
 * @param {DataColumn<R>[]} columns
 * @param {string} place
 * @returns {HeadCell[]}
 */
function sortHeads(route, columns, place) {
  const { sort = '' } = route.choices;
  return columns.map(({ name, head }) => {
    const [up, down] = [sort === name, sort === `-${name}`];
    const button = h('button', { type: 'button', class: 'sort', id: `sort-${place}-${name}`.replace(/\W+/g, '-'), onclick: () => choose(route, { sort: up ? `-${name}` : down ? '' : name }) },
      head, h('span', { 'aria-hidden': 'true' }, up ? ' ▲' : down ? ' ▼' : ' ↕'));
    return { text: button, properties: { 'aria-sort': up ? 'ascending' : down ? 'descending' : 'none' } };
  });
}

/**
 * Where one writes the words that rows must have.
 * @param {Route} route
 * @param {string} label
 */
function findBox(route, label) {
  const chosen = route.choices.find || '';
  const take = () => { if (input.value !== chosen) choose(route, { find: input.value }); };
  const input = h('input', { type: 'search', id: 'find', value: chosen, placeholder: 'words, then Enter', onchange: take, onsearch: take });
  return h('label', { class: 'choice' }, h('span', {}, label), input);
}

/**
 * A table with all of it: what is found, the first rows, and all of them when asked.
 * @template R
 * @param {Route} route
 * @param {DataColumn<R>[]} columns
 * @param {R[]} rows
 * @param {Properties} properties of the table
 */
function dataTable(route, columns, rows, properties) {
  const found = chosenRows(route, columns, rows);
  const lines = shownRows(route, found).map((row) => columns.map(({ value, cell }) => (cell ? cell(row) : value(row))));
  return [
    found.length < rows.length ? h('p', { class: 'quiet found' }, `${found.length} of ${rows.length} have “${route.choices.find}”.`) : null,
    theRest(route, found), grid(sortHeads(route, columns, String(properties.class)), lines, properties),
  ];
}

/**
 * @template R
 * @param {Route} route
 * @param {R[]} rows
 */
function shownRows(route, rows) {
  return route.choices.rows === 'all' ? rows : rows.slice(0, MOST_ROWS);
}

/**
 * @param {Route} route
 * @param {unknown[]} rows
 */
function theRest(route, rows) {
  if (shownRows(route, rows).length === rows.length) return null;
  return h('p', {}, `The first ${MOST_ROWS} of ${rows.length}. `, link(route.parts, `Show all ${rows.length}`, { ...route.choices, rows: 'all' }));
}
