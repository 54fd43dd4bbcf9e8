// One load: objects, bytes, window and round trip over time, packets, handshake, logs, circumstances.
'use strict';

/** @param {Route} route */
async function loadPage(route) {
  const [studyName, cell, arm, repetition, packet] = route.parts;
  /** @type {Study} */
  const study = await howquick.load(`${studyName}/study`);
  const { number: place, page, rows } = await cellData(study, cell);
  const row = rows.find((known) => known.arm === arm && String(known.repetition) === repetition);
  if (!row) throw new Error(`No repetition ${repetition} of arm ${arm} is in cell ${cell}.`);
  const where = [studyName, cell, arm, repetition];
  const detail = page.detailed.includes(row.index) ? await howquick.load(`${study.study}/${place}/${row.index}`) : {};
  const top = [crumbs(study, packet ? [cell, arm, repetition, packet] : [cell, arm, repetition]), h('h1', {}, `${armLabel(study, arm)}, repetition ${repetition}`), h('p', { class: 'quiet' }, cellTitle(study, cell))];
  if (packet) return h('div', {}, top, packetPage(route, study, cell, row, detail, where));
  document.title = `${arm} ${repetition} – ${cell}`;
  const other = await otherLoad(route, study, page, rows, place, row);
  return h('div', {}, top, summary(study, row, detail), loadControls(route, study, rows, row),
    besideNote(study, route, rows, row, other),
    waterfall(study, row, detail, other), overTime(study, { row, detail }, other),
    packetsSection(route, where, row, howquick.rows(detail.packets)),
    handshakeSection(study, cell, detail), filmSection(row, detail), captureSection(row, detail), logSection(detail), metaSection(detail), rowSection(row));
}

/**
 * @param {Route} route
 * @param {Study} study
 * @param {CellPage} page
 * @param {Row[]} rows
 * @param {number} place
 * @param {Row} row
 */
async function otherLoad(route, study, page, rows, place, row) {
  const found = rowOf(rows, route.choices.with);
  if (!found || found === row || !page.detailed.includes(found.index)) return null;
  return { row: found, detail: await howquick.load(`${study.study}/${place}/${found.index}`) };
}

/**
 * What there is of the load that was asked for beside it, where that is nothing.
 * @param {Study} study
 * @param {Route} route
 * @param {Row[]} rows
 * @param {Row} row
 * @param {Loaded | null} other
 */
function besideNote(study, route, rows, row, other) {
  const found = rowOf(rows, route.choices.with);
  if (!found || found === row || other) return null;
  return h('p', { class: 'empty beside-note' }, `Of ${loadName(study, found)} this folder has its row of the table alone: nothing of it can be drawn over time.`);
}

/**
 * A load by its choice in the address, ARM~REPETITION.
 * @param {Row[]} rows
 * @param {string | undefined} choice
 */
function rowOf(rows, choice) {
  const [arm, repetition] = (choice || '').split('~');
  return rows.find((known) => known.arm === arm && String(known.repetition) === repetition);
}

/**
 * @param {Route} route
 * @param {Study} study
 * @param {Row[]} rows
 * @param {Row} row
 */
function loadControls(route, study, rows, row) {
  const options = rows.filter((other) => other !== row).map((other) => [`${other.arm}~${other.repetition}`, `${armLabel(study, other.arm)}, repetition ${other.repetition}`]);
  return h('div', { class: 'controls' }, choice('beside it, on the same time axis', [['', 'nothing'], ...options], route.choices.with || '', (value) => choose(route, { with: value })));
}

/**
 * @param {Study} study
 * @param {Row} row
 * @param {Detail} detail
 */
function summary(study, row, detail) {
  const metric = study.metric;
  return h('div', {}, h('p', {}, statusBadge(row.status), ' ', row.reason || ''), inWords(row, detail),
    facts([
      [metric.label, number(row[metric.column], metric.unit)], ['page load time by the client', number(row.plt_s, 's')], ['by the capture', number(row.plt_capture_s, 's')], ['handshake', number(row.handshake_s, 's')],
      ['first byte', number(row.ttfb_s, 's')], ['bytes', number(row.bytes)], ['connections', number(row.connections)], ['lost on the way down', number(row.capture_lost_down)], ['lost on the way up', number(row.capture_lost_up)],
      ['packets sent again', number(row.retransmitted_packets)], ['congestion control', row.congestion_control], ['cipher', row.negotiated_cipher], ['group', row.negotiated_group],
    ]));
}

/**
 * meta.json as sentences.
 * @param {Row} row
 * @param {Detail} detail
 */
function inWords(row, { meta }) {
  if (!meta || !meta.link) return null;
  const version = (/** @type {string} */ role) => (meta.programs && meta.programs[role] && meta.programs[role].version) || row[role] || role;
  const limit = meta.link.bandwidth_mbit === 'unshaped' ? 'an unshaped link' : `${meta.link.bandwidth_mbit} Mbit/s${meta.link.rate_trace || meta.link.rate_trace_up ? ' (mean of a trace)' : ''}`;
  const sentences = [
    `${version('client')} loaded from ${version('server')} over ${row.protocol || 'its protocol'} (${row.connection || 'cold'}) across ${limit}, RTT ${meta.link.rtt_ms} ms, loss ${meta.link.loss_percent} %.`,
    `It was load ${(meta.order ?? 0) + 1} of its repetition${meta.started && meta.clock !== 'virtual' ? `, started ${day(meta.started)}` : ''}, by the ${meta.clock || 'real'} clock.`,
    meta.attempts > 1 ? `It took ${meta.attempts} attempts: ${(meta.disturbed || []).join('; ')}.` : 'It counted at the first attempt.',
    meta.host ? `Measured on ${meta.host.node} (${meta.host.cpu}, ${meta.host.cpus} processors, Linux ${meta.host.kernel}).` : '',
    meta.guard && finite(meta.guard.foreign_cpu) ? `Other programs used ${short(100 * meta.guard.foreign_cpu)} % of the processors meanwhile.` : '',
    meta.settings && meta.settings.backend ? `The link was made by ${meta.settings.backend}${meta.settings.queue_bytes ? `, with a queue of ${meta.settings.queue_bytes} bytes` : ''}.` : '',
  ];
  return h('p', { class: 'words' }, sentences.filter(Boolean).join(' '));
}

/**
 * @param {string} title
 * @param {string} text
 */
function nothing(title, text) {
  return h('section', {}, h('h2', {}, title), h('p', { class: 'quiet' }, text));
}

/**
 * @param {Study} study
 * @param {Row} row
 * @param {Detail} detail
 * @param {Loaded | null} other
 */
function waterfall(study, row, detail, other) {
  const objects = howquick.rows(detail.objects);
  if (!objects.length) return nothing('Objects', 'The times of single objects are not in this folder.');
  const both = [{ row, objects }, ...(other ? [{ row: other.row, objects: howquick.rows(other.detail.objects) }] : [])];
  const most = Math.max(...both.flatMap((one) => one.objects.map((object) => object.end_s || 0)), 1e-6);
  return h('section', {}, h('h2', {}, 'Objects'), h('p', { class: 'quiet' }, 'Light: asked for and waiting. Dark: first to last byte.'), both.map((one) => h('div', {},
    other ? h('h3', {}, `${armLabel(study, one.row.arm)}, repetition ${one.row.repetition}`) : null, waterfallPlot(one.objects, most))));
}

/**
 * @param {Row[]} objects
 * @param {number} most
 */
function waterfallPlot(objects, most) {
  const width = room();
  const line = objects.length > 60 ? 12 : 17;
  const places = objects.map((_, index) => index);
  const start = (/** @type {Row} */ object) => object.start_s ?? object.first_byte_s ?? object.end_s;
  const first = (/** @type {Row} */ object) => object.first_byte_s ?? object.end_s;
  const at = (/** @type {number} */ by) => (/** @type {Row} */ _, /** @type {number} */ index) => index + by;
  const row = { y1: at(-0.38), y2: at(0.38) };
  const said = told(objects, (object) => ({ title: `${object.path}: ${object.bytes} bytes, ${milliseconds(start(object))} to ${milliseconds(object.end_s)}` }));
  const svg = chart({
    // The size of the last object stands behind its end.
    label: 'waterfall of objects', width, height: objects.length * line + 54, left: Math.min(220, width * 0.34), x: { domain: [0, most * (1 + 62 / (0.6 * width))], label: 'seconds' },
    y: { ...rowAxis(places, objects.map((object) => String(object.path)), [objects.length - 0.5, -0.5]), bare: true, cut: 'ellipsis-start' },
    marks: [
      Plot.rect(objects, { x1: start, x2: first, ...row, className: 'wait', ...said }),
      Plot.rect(objects, { x1: first, x2: 'end_s', ...row, className: 'receive', ...said }),
      Plot.text(objects, { x: 'end_s', y: at(0), text: (object) => bytes(object.bytes), dx: 4, textAnchor: 'start' }),
    ],
  });
  return h('div', { class: 'scroll' }, svg);
}

/**
 * @param {Study} study
 * @param {string} cell
 * @param {Detail} detail
 */
function handshakeSection(study, cell, detail) {
  const rows = howquick.rows(detail.handshake);
  if (!rows.length) return null;
  return h('section', {}, h('h2', {}, 'Handshake: the first packets at the client'), handshakePlot(packetFlights(rows, linkRtt(study, cell)), Math.min(room(), 620), 'first packets'), grid(['time', 'direction', 'payload', 'what'], rows.map((row) => [milliseconds(row.time_s), row.direction === 'up' ? '→ to the server' : '← to the client', bytes(row.bytes), row.label])));
}

/** @param {Detail} detail */
function logSection(detail) {
  const logs = Object.entries(detail.logs || {});
  if (!logs.length) return null;
  return h('section', {}, h('h2', {}, 'Logs'), logs.map(([name, text]) => h('details', { open: Boolean(text) && text.length < 1500 }, h('summary', {}, `${name}${text ? '' : ' (empty)'}`), h('pre', { class: 'log', tabindex: 0 }, text))));
}

/** @param {Detail} detail */
function metaSection(detail) {
  if (!detail.meta || !Object.keys(detail.meta).length) return null;
  return h('section', {}, h('h2', {}, 'Circumstances'), h('details', {}, h('summary', {}, 'meta.json, without counters of the kernel'), h('pre', { class: 'log', tabindex: 0 }, JSON.stringify(detail.meta, null, 1))));
}

/** @param {Row} row */
function rowSection(row) {
  const known = Object.entries(row).filter(([name, value]) => name !== 'index' && value !== null && value !== undefined);
  return h('section', {}, h('details', { class: 'row' }, h('summary', {}, `Its row of the table of runs: ${known.length} columns`), grid(['column', 'value'], known.map(([name, value]) => [h('code', {}, name), h('span', { 'data-column': name, 'data-value': value }, String(value))]))));
}
