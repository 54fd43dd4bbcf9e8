// The tree of what wins where.
'use strict';

/**
 * tree.csv lists nodes level by level; each node that splits has the next two of the level below.
 * @param {Study} study
 */
function treeFigure(study) {
  /** @type {Split[]} */
  const nodes = howquick.rows(study.tables.tree).map((row) => ({ ...row, children: /** @type {Split[]} */ ([]) }));
  if (!nodes.length) return h('p', { class: 'empty' }, 'There is no tree: no cell has loads of all arms.');
  /** @type {Split[]} */
  const waiting = [];
  for (const node of nodes) {
    while (waiting.length && waiting[0].children.length === 2) waiting.shift();
    if (node.depth > 0 && waiting.length) waiting[0].children.push(node);
    if (String(node.leaf).toUpperCase() !== 'TRUE') waiting.push(node);
  }
  const label = (/** @type {string} */ name) => (study.factors.find((factor) => factor.name === name) || { label: name }).label;
  const won = (/** @type {Split} */ node) => (node.label === 'tie' ? 'tie' : String(node.label).split('+').map((arm) => armLabel(study, arm)).join(' and '));
  /** @type {(node: Split) => Node} */
  const item = (node) => h('li', {}, node.depth ? h('span', {}, `${label(node.variable)} ${node.levels}: `) : null, h('b', {}, won(node)), h('small', {}, ` in ${node.right} of ${node.n} cells`),
    node.children.length ? h('ul', {}, node.children.map(item)) : null);
  return h('ul', { class: 'tree' }, item(nodes[0]));
}
