// Who works with whom: servers across, clients down, and why not elsewhere.
'use strict';

const MOST_REASONS = 8;

/**
 * @param {Study} study
 * @param {Figure} figure
 */
function matrixFigure(study, figure) {
  const cells = new Set(selected(study, figure.cells).map((cell) => cell.name));
  const tiles = howquick.rows(study.tables.figure_pairings).filter((row) => row.figure === figure.name && cells.has(row.cell));
  if (!tiles.length) return absent(study);
  const most = Math.max(...tiles.map((tile) => (finite(tile.median) ? tile.median : 0))) || 1;
  const list = [...Map.groupBy(tiles, (tile) => tile.panel)].map(([panel, some]) => {
    const servers = [...new Set(some.map((tile) => tile.server))];
    const clients = [...new Set(some.map((tile) => tile.client))];
    const at = (/** @type {string} */ server, /** @type {string} */ client) => some.filter((tile) => tile.server === server && tile.client === client).map((tile) => pairTile(study, tile, most));
    return { title: panel, content: grid(['client \\ server', ...servers], clients.map((client) => [client, ...servers.map((server) => at(server, client))]), { class: 'heat tight', 'aria-label': `servers and clients: ${panel}` }) };
  });
  const metric = metricOf(study, figure);
  return h('div', {}, h('p', { class: 'quiet' }, `Median ${withUnit(metric)} of the loads that finished, with the number of those that did not. Dashed: failed; grey, n/s: not supported; dotted: not measured.`),
    panels(list), pairReasons(tiles, 'failed'), pairReasons(tiles, 'not supported'));
}

/**
 * @param {Study} study
 * @param {Row} tile of figure_pairings.csv
 * @param {number} most
 */
function pairTile(study, tile, most) {
  const words = String(tile.text || '').replace('\n', ', ') || '·';
  const title = `${tile.server} with ${tile.client}: ${tile.state}${tile.reason ? `, ${tile.reason}` : ''}`;
  const known = { 'data-arm': tile.arm, 'data-cell': tile.cell, 'data-server': tile.server, 'data-client': tile.client, 'data-state': tile.state, 'data-value': tile.median ?? '', title };
  if (tile.state === 'worked') return shade(words, tile.median / most, { href: routeTo([study.study, tile.cell], { arm: tile.arm }), ...known });
  const kind = `tile state-${tile.state.replaceAll(' ', '-')}`;
  if (tile.state === 'failed') return h('a', { class: kind, href: routeTo([study.study, tile.cell], { arm: tile.arm }), ...known }, words);
  return h('span', { class: kind, ...known }, words);
}

/**
 * @param {Row[]} tiles
 * @param {string} state
 */
function pairReasons(tiles, state) {
  const said = [...new Set(tiles.filter((tile) => tile.state === state && tile.reason).map((tile) => `${tile.server} with ${tile.client}: ${tile.reason}`))];
  if (!said.length) return null;
  const more = said.length - MOST_REASONS;
  const list = (/** @type {string[]} */ some) => h('ul', { class: 'reasons' }, some.map((text) => h('li', {}, text)));
  return h('div', {}, h('h4', {}, state), list(said.slice(0, MOST_REASONS)), more > 0 ? h('details', {}, h('summary', {}, `${more} more`), list(said.slice(MOST_REASONS))) : null);
}
