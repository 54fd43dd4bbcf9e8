// Figures about the quality of the data: do clients agree, what failed, what drifted, what links are like.
'use strict';

// As in R/figures/kinds/consistency.R and R/statistics/comparisons.R.
const DARKEST_PERCENT = 100;
const ALIKE_PERCENT = 5;

/**
 * A shaded text: `share` from 0 to 1 of the full colour.
 * @param {string} text
 * @param {number} share
 * @param {Properties} [properties]
 */
function shade(text, share, properties = {}) {
  const element = h(properties.href ? 'a' : 'span', { class: 'tile higher', ...properties }, text);
  element.style.setProperty('--share', `${Math.round(62 * Math.min(Math.max(share, 0), 1))}%`);
  return element;
}

/**
 * @param {Study} study
 * @param {Arm} arm
 */
function clientLabel(study, arm) {
  const told = Object.entries((arm.own_options && arm.own_options.client) || {}).map(([name, value]) => `, ${name.replaceAll('_', ' ')} ${value}`);
  return arm.client ? `${String(arm.protocol).toUpperCase()}, ${arm.client}${told.join('')}` : armLabel(study, arm.name);
}

/**
 * Median of every client relative to the best client of the same server and protocol in the same cell.
 * @param {Study} study
 * @param {Figure} figure
 */
function consistencyRows(study, figure) {
  const metric = metricOf(study, figure);
  const wanted = figureArms(study, figure);
  const arms = wanted.map((name) => study.plan_arms.find((arm) => arm.name === name)).filter(isThere);
  const medians = figureMedians(study, figure);
  const cost = (/** @type {number} */ value) => (metric.better === 'higher' ? 1 / value : value);
  const costs = selected(study, figure.cells).flatMap((cell) => arms.map((arm) => {
    const row = medians.get(`${cell.name} ${arm.name}`);
    const median = row ? amount(row.median) : NaN;
    return { cell, arm, place: `${cell.name} ${arm.group} ${arm.protocol}`, cost: Number.isNaN(median) ? null : cost(median) };
  }));
  /** @type {Agreement[]} */
  const rows = costs.map((row) => {
    const same = costs.filter(({ place }) => place === row.place).map(({ cost: other }) => other).filter(isThere);
    const best = Math.min(...same);
    return { ...row, clients: same.length, percent: row.cost !== null && Number.isFinite(row.cost) && Number.isFinite(best) ? 100 * (row.cost / best - 1) : null };
  });
  return { rows, arms };
}

/**
 * @param {Study} study
 * @param {Figure} figure
 */
function consistencyFigure(study, figure) {
  const { rows, arms } = consistencyRows(study, figure);
  const silent = figure.silent_percent ?? ALIKE_PERCENT;
  const measured = rows.filter((row) => row.cost !== null);
  if (!measured.length) return absent(study);
  const compared = measured.filter((row) => row.clients > 1);
  const cells = [...new Set((compared.length ? compared : measured).map((row) => row.cell))];
  const names = varying(study, cells);
  const servers = [...new Set(arms.map((arm) => arm.group))];
  const text = (/** @type {Agreement} */ row) => (row.percent === null ? 'fail' : row.clients < 2 ? 'alone' : row.percent <= silent * (1 + 1e-9) ? `within ${silent} %` : `+${row.percent.toFixed(0)} %`);
  const list = servers.map((server) => {
    const clients = arms.filter((arm) => arm.group === server);
    const labels = clients.map((arm) => clientLabel(study, arm));
    // Two arms of one client differ in something else, which their labels say.
    const called = (/** @type {Arm} */ arm) => (labels.filter((label) => label === clientLabel(study, arm)).length > 1 ? armLabel(study, arm.name) : clientLabel(study, arm));
    const tile = (/** @type {Cell} */ cell, /** @type {Arm} */ arm) => {
      const row = measured.find((one) => one.cell === cell && one.arm === arm);
      if (!row) return '';
      return shade(text(row), (row.percent || 0) / DARKEST_PERCENT, { href: routeTo([study.study, cell.name], { arm: arm.name }), 'data-cell': cell.name, 'data-arm': arm.name, 'data-value': row.percent, title: `${armLabel(study, arm.name)} in ${cell.name}` });
    };
    const table = grid([names.length ? 'cell' : '', ...clients.map((arm) => called(arm))], cells.map((cell) => [cellTitle(study, cell.name, names), ...clients.map((arm) => tile(cell, arm))]), { class: 'heat tight', 'aria-label': `clients of ${server}` });
    return { title: server, content: table };
  });
  return h('div', {}, h('p', { class: 'quiet' }, `Percent behind the best client of the same server and protocol. alone: no other client was measured there; fail: at least half of the loads did not finish.`), panels(list));
}

/**
 * Of every cell and arm with loads that did not end well: how many of how many.
 * @param {Study} study
 * @param {Figure} figure
 */
function failuresFigure(study, figure) {
  const arms = figure.arms ? figureArms(study, figure) : study.plan_arms.map((arm) => arm.name);
  const rows = howquick.rows(study.runs).filter((row) => arms.includes(row.arm));
  const bad = rows.filter((row) => row.status !== 'ok');
  if (!bad.length) return h('p', { class: 'empty' }, rows.length ? `All of ${rows.length} loads finished.` : 'No load of its arms was measured.');
  const by = (/** @type {Row[]} */ some) => Map.groupBy(some, (row) => `${row.cell} ${row.arm}`);
  const [all, ended] = [by(rows), by(bad)];
  const cells = study.cell_names.filter((cell) => bad.some((row) => row.cell === cell));
  const present = arms.filter((arm) => rows.some((row) => row.arm === arm));
  const words = (/** @type {Row[]} */ some) => ['failed', 'timeout', 'invalid'].map((status) => [some.filter((row) => row.status === status).length, status[0]]).filter(([n]) => n).map(([n, letter]) => `${n}${letter}`).join(' ');
  const tile = (/** @type {string} */ cell, /** @type {string} */ arm) => {
    const of = all.get(`${cell} ${arm}`);
    if (!of) return '';
    const some = ended.get(`${cell} ${arm}`) || [];
    return shade(some.length ? words(some) : '·', some.length / of.length, { href: routeTo([study.study, cell], { arm }), 'data-cell': cell, 'data-arm': arm, 'data-value': some.length, title: `${some.length} of ${of.length}: ${armLabel(study, arm)} in ${cell}` });
  };
  return h('div', {}, h('p', { class: 'quiet' }, `${bad.length} of ${rows.length} loads did not end well. f: failed, t: timeout, i: invalid. Empty: not measured.`),
    grid(['cell', ...present.map((arm) => armLabel(study, arm))], cells.map((cell) => [link([study.study, cell], cell), ...present.map((arm) => tile(cell, arm))]), { class: 'heat tight', 'aria-label': 'loads that did not end well' }));
}

/**
 * Finished loads relative to the geometric mean of their cell and arm, with when each was measured.
 * @param {Study} study
 * @param {string[]} arms
 */
function driftRows(study, arms) {
  const { column } = study.metric;
  const rows = howquick.rows(study.runs).filter((row) => arms.includes(row.arm) && row.status === 'ok' && row[column] > 0);
  const timed = rows.length > 0 && rows.every((row) => finite(row.started));
  const first = timed ? rows.reduce((least, row) => Math.min(least, row.started), Infinity) : 0;
  for (const some of Map.groupBy(rows, (row) => `${row.cell} ${row.arm}`).values()) {
    const middle = Math.exp(some.reduce((sum, row) => sum + Math.log(row[column]), 0) / some.length);
    for (const row of some) row.relative = row[column] / middle;
  }
  const hours = rows.some((row) => row.started - first >= 7200);
  const points = rows.map((row, index) => ({ row, x: timed ? (row.started - first) / (hours ? 3600 : 60) : index + 1, y: row.relative }));
  return { points, label: timed ? `time since the first load (${hours ? 'h' : 'min'})` : 'position in the table of runs' };
}

/**
 * Median and quartiles (of type 7, as R has them) in at most 24 groups of consecutive loads.
 * @param {Timed[]} points
 */
function runningQuartiles(points) {
  const size = Math.max(5, Math.ceil(points.length / 24));
  const sorted = [...points].sort((p, q) => p.x - q.x);
  const groups = [];
  for (let at = 0; at < sorted.length; at += size) groups.push(sorted.slice(at, at + size));
  const quantile = (/** @type {number[]} */ values, /** @type {number} */ share) => {
    const place = (values.length - 1) * share;
    const low = Math.floor(place);
    return values[low] + (place - low) * ((values[low + 1] ?? values[low]) - values[low]);
  };
  // One group alone is no course.
  return groups.length < 2 ? [] : groups.map((some) => {
    const values = some.map(({ y }) => y).sort((a, b) => a - b);
    return { x: some.reduce((sum, { x }) => sum + x, 0) / some.length, quartiles: [0.25, 0.5, 0.75].map((share) => quantile(values, share)) };
  });
}

// Where there are more points than that, the band alone can be told apart.
const MOST_POINTS = 3000;

/**
 * @param {Study} study
 * @param {Figure} figure
 */
function driftFigure(study, figure) {
  const arms = figure.arms ? figureArms(study, figure) : study.plan_arms.map((arm) => arm.name);
  const { points, label } = driftRows(study, arms);
  if (points.length < 2) return h('p', { class: 'empty' }, 'Fewer than two loads finished, so there is no order to show.');
  const x = { domain: extent(points.map((point) => point.x)), label };
  const y = { domain: extent(points.map((point) => point.y), { pad: 0 }), label: 'relative to its cell and arm', log: true };
  const list = arms.filter((arm) => points.some(({ row }) => row.arm === arm)).map((arm) => {
    const own = points.filter(({ row }) => row.arm === arm);
    const { colour } = armStyle(study, arm);
    const running = runningQuartiles(own);
    const marks = [
      Plot.areaY(running, { x: 'x', y1: ({ quartiles }) => quartiles[0], y2: ({ quartiles }) => quartiles[2], fill: colour, className: 'range' }),
      lineMark(running.map(({ x: at, quartiles }) => pair(at, quartiles[1])), { stroke: colour }, { 'data-arm': arm }),
    ];
    const dots = points.length > MOST_POINTS ? [] : own.map(({ row, x: at, y: value }) => ({ x: at, y: value, size: 2.5, colour, href: () => loadRoute(study, row.cell, row), title: () => `${row.cell}, repetition ${row.repetition}: ${short(value)}` }));
    return { title: armLabel(study, arm), content: withPoints({ label: `order of ${armLabel(study, arm)}`, width: panelWidth(4), height: 230, x, y, marks }, dots, points.length) };
  });
  return h('div', {}, h('p', { class: 'quiet' }, 'Line: running median; band: quartiles.'), panels(list));
}
