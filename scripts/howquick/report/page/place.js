// Where the results are, seen from the page and on a command line. data/place.js says it: an archive keeps them apart.
'use strict';

/** @returns {Place} */
function place() {
  return howquick.given('place');
}

/** @param {string} path */
function resultFile(path) {
  return `${place().published}${path.split('/').filter((part) => part && part !== '..').map(encodeURIComponent).join('/')}`;
}

/** The folder of results on a command line: as it is where the page is opened from the disk. */
function resultsFolder() {
  if (!place().runs) return place().again;
  if (location.protocol !== 'file:') return 'results';
  return decode(new URL('..', location.href).pathname).replace(/\/$/, '');
}

/**
 * @param {string} program
 * @param {string} path
 * @param {string} end
 * @param {string} filter
 */
function captureCommand(program, path, end, filter) {
  const file = `${resultsFolder()}/${path}/${end}.pcapng`;
  return `${program} -r ${quoted(file)}${filter ? ` -Y ${quoted(filter)}` : ''}`;
}

/**
 * Of an archive, which has no run folders: how this load's comes into being. By a clock that is virtual it has the same packets.
 * @param {Row} row
 */
function measuredAgain(row) {
  if (place().runs) return null;
  const same = row.clock === 'virtual' ? 'the same packets, since its clock is virtual' : 'packets of its own, since its clock is the real one';
  return [h('p', { class: 'quiet' }, `Captures and logs are not in this archive. Measured again, in ${place().again}/, the load has ${same}:`),
    copyable(`./enter snakemake -j8 ${row.study.replaceAll('-', '_')} ${place().anew} cells=${row.cell}`)];
}
