// What is kept of a load for people to look at.
'use strict';

const fs = require('node:fs');
const path = require('node:path');
const { NET_LOG } = require('./browser.js');
const { Refusal } = require('./contract');

const FILM_FRAMES = 10;
// After the events comes what the browser polls at its end, a list.
const NET_LOG_END = '}]\n}\n';

// The first frame that reached each tenth of the final picture.
function filmOf(frames) {
  const steps = Array.from({ length: FILM_FRAMES }, (_, number) => (100 * (number + 1)) / FILM_FRAMES);
  const drawn = frames.slice(1); // the first is speedline's own white one
  return [...new Set(steps.map((step) => drawn.find((frame) => frame.getProgress() >= step)))].filter(Boolean);
}

function writeFilm(folder, progress) {
  const film = path.join(folder, 'filmstrip');
  fs.mkdirSync(film);
  for (const frame of filmOf(progress.frames)) {
    const milliseconds = String(Math.round(frame.getTimeStamp() - progress.beginning)).padStart(6, '0');
    fs.writeFileSync(path.join(film, `${milliseconds}ms.jpg`), frame.getImage());
  }
}

// The log is one JSON object; the browser writes its end when it closes.
function checkNetLog(folder) {
  const file = path.join(folder, NET_LOG);
  const size = fs.existsSync(file) ? fs.statSync(file).size : 0;
  const end = Buffer.alloc(Math.min(size, NET_LOG_END.length));
  if (size) {
    const log = fs.openSync(file);
    fs.readSync(log, end, 0, end.length, size - end.length);
    fs.closeSync(log);
  }
  if (end.toString() !== NET_LOG_END) throw new Refusal('the browser did not finish its net-log');
}

// A script's load begins on a page that was there before it; a HAR without a page has no entries.
function withPage(messages) {
  if (messages.some(({ method }) => method === 'Page.frameStartedLoading')) return messages;
  const first = messages.find(({ method }) => method === 'Network.requestWillBeSent');
  return first ? [{ method: 'Page.frameStartedLoading', params: { frameId: first.params.frameId } }, ...messages] : messages;
}

// Write `screenshot.jpg`, `filmstrip/`, `har.json` and check `netlog.json`, which the browser wrote.
async function keep(folder, { messages, harFromMessages, screenshot, progress, netLog }) {
  fs.writeFileSync(path.join(folder, 'screenshot.jpg'), screenshot);
  if (progress) writeFilm(folder, progress);
  fs.writeFileSync(path.join(folder, 'har.json'), JSON.stringify(harFromMessages(withPage(messages))));
  if (netLog) checkNetLog(folder);
}

module.exports = { keep };
