// What the report's page uses of others: only what is named here and in plot.js gets into its one script.
export * as Plot from './plot.js';
// What Plot itself uses: round numbers of an axis; symbols, for canvases and legends.
export { ticks as evenly } from 'd3-array';
export { symbol, symbolCircle, symbolDiamond2, symbolSquare, symbolTriangle } from 'd3-shape';
export { createTable, getCoreRowModel, getFilteredRowModel, getSortedRowModel } from '@tanstack/table-core';
export { default as uPlot } from 'uplot';
