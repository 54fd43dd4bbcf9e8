// Figures of parts of a whole: where processor time goes, and which protocol carried how many resources.
'use strict';

// As R/figures/kinds/profile.R calls them.
/** @type {Record<string, string>} */
const PROFILE_PARTS = {
  kernel: 'kernel: packet input and output', io: 'calls of the kernel', crypto: 'cryptography', memory: 'copying and memory',
  connection: 'connection management', unknown: 'not known by name', none: 'not sampled',
};
/** @type {Record<string, string>} */
const PROFILE_FILLS = { kernel: '#6b6f76', io: '#4d7ba8', crypto: '#d55e00', memory: '#56b4e9', connection: '#c9b92c', unknown: '#c3c7cd', none: 'transparent' };
/** @type {Record<string, string>} */
const PROTOCOLS = { h1: 'HTTP/1.1', h2: 'HTTP/2', h3: 'HTTP/3', spdy: 'SPDY', hq: 'HTTP/0.9 over QUIC', tls: 'TLS over TCP', sctp: 'SCTP' };

/** @param {string} name */
function protocolLabel(name) {
  return PROTOCOLS[name] || name;
}

/**
 * One bar per line, its parts side by side: lines are {title, parts: [{name, label, share, colour}], note}.
 * @param {string[]} header
 * @param {Bar[]} lines
 */
function stackedBars(header, lines) {
  return h('div', { class: 'scroll' }, h('table', { class: 'bars' }, h('thead', {}, h('tr', {}, header.map((text) => h('th', { scope: 'col' }, text)))),
    h('tbody', {}, lines.map(({ title, parts, note }) => {
      const words = parts.map(({ label, share }) => `${label} ${short(share)} %`).join(', ');
      const bar = h('div', { class: 'stack', role: 'img', 'aria-label': words, title: words }, parts.map(({ name, share, colour }) => {
        const part = h('span', { 'data-part': name, 'data-value': share });
        part.style.setProperty('--size', `${share}%`);
        part.style.setProperty('--colour', colour);
        return part;
      }));
      return h('tr', {}, h('th', { scope: 'row' }, title), h('td', { class: 'bar-place' }, bar), h('td', {}, note));
    }))));
}

/**
 * What server and client spend processor time on, with the seconds a gigabyte takes beside it.
 * @param {Study} study
 * @param {Figure} figure
 */
async function profileFigure(study, figure) {
  const cells = selected(study, figure.cells);
  if (!cells.length) return absent(study);
  const arms = figureArms(study, figure);
  const names = varying(study, cells);
  const list = [];
  for (const end of ['server', 'client']) {
    const totals = await mediansOf(study, `cpu_${end}_s_per_gb`);
    const sampled = Object.keys(PROFILE_PARTS).filter((part) => part !== 'none');
    const shares = await Promise.all(sampled.map((part) => mediansOf(study, `profile_${end}_${part}_percent`)));
    const lines = cells.flatMap((cell) => arms.filter((arm) => totals.has(`${cell.name} ${arm}`)).map((arm) => {
      const found = sampled.map((name, index) => ({ name, share: (shares[index].get(`${cell.name} ${arm}`) || {}).median })).filter(({ share }) => share > 0);
      const parts = (found.length ? found : [{ name: 'none', share: 100 }]).map((part) => ({ ...part, label: PROFILE_PARTS[part.name], colour: PROFILE_FILLS[part.name] }));
      const title = [link([study.study, cell.name], armLabel(study, arm), { arm }), names.length ? h('small', {}, ` ${cellTitle(study, cell.name, names)}`) : null];
      return { title, parts, note: number(totals.get(`${cell.name} ${arm}`).median, 's') };
    }));
    if (lines.length) list.push({ title: end, content: stackedBars(['arm', 'share of its processor time', 'per GB of payload'], lines) });
  }
  if (!list.length) return h('p', { class: 'empty' }, 'No load of its cells has processor time.');
  return h('div', {}, legend(Object.entries(PROFILE_PARTS).map(([part, label]) => ({ label, colour: PROFILE_FILLS[part], edge: true }))), panels(list));
}

/**
 * Resources of all finished loads of an arm by the protocol that carried them, one panel per page or cell.
 * @param {Study} study
 * @param {Figure} figure
 */
function shareFigure(study, figure) {
  const cells = selected(study, figure.cells);
  if (!cells.length) return absent(study);
  const arms = figureArms(study, figure);
  const factors = study.factors.map((factor) => factor.name);
  const facet = listOf(figure.facet || (factors.includes('workload') ? 'workload' : factors));
  const counts = howquick.rows(study.protocols);
  const known = [...Object.keys(PROTOCOLS), ...counts.map((row) => row.protocol)];
  const protocols = [...new Set(known)].filter((name) => counts.some((row) => row.protocol === name));
  const colour = (/** @type {string} */ name) => COLOURS[protocols.indexOf(name) % COLOURS.length];
  const list = figurePanels(study, figure, cells, facet).map(([title, some]) => {
    const names = new Set(some.map((cell) => cell.name));
    const lines = arms.map((arm) => {
      const rows = counts.filter((row) => names.has(row.cell) && row.arm === arm);
      const of = (/** @type {string} */ name) => rows.filter((row) => row.protocol === name).reduce((sum, row) => sum + row.resources, 0);
      const total = rows.reduce((sum, row) => sum + row.resources, 0);
      const parts = protocols.filter((name) => of(name) > 0).map((name) => ({ name, label: protocolLabel(name), share: (100 * of(name)) / total, colour: colour(name) }));
      return { title: armLabel(study, arm), parts, note: parts.map(({ label, share }) => h('div', { class: 'nowrap' }, `${label}: ${short(share)} % of ${total}`)) };
    }).filter(({ parts }) => parts.length);
    return { title, content: stackedBars(['arm', 'share of the resources', ''], lines), lines };
  }).filter(({ lines }) => lines.length);
  if (!list.length) return h('p', { class: 'empty' }, 'No load of its cells says which protocol carried a resource.');
  return h('div', {}, legend(protocols.map((name) => ({ label: protocolLabel(name), colour: colour(name) }))), panels(list));
}
