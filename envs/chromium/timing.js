// TIMING from what the recorder saw.
'use strict';

const { createHash } = require('node:crypto');
const { Refusal } = require('./contract');

const rounded = (seconds) => Number(seconds.toFixed(6));

// When the load's first connection began, seconds of the monotonic clock.
function startOf(recorder) {
  const { response } = recorder.of(recorder.wanted[0]);
  const { requestTime, connectStart } = response.timing;
  return requestTime + Math.max(0, connectStart) / 1000;
}

function checkAnswer({ path, response }, { protocol, spoken }) {
  if (response.protocol !== spoken) {
    throw new Refusal(`${path} came over ${response.protocol}, not over ${protocol}`);
  }
  if (response.status !== 200) throw new Refusal(`${path}: HTTP status ${response.status}`);
}

async function objectOf(resource, page, start) {
  const { path, response, requestId } = resource;
  const { requestTime, receiveHeadersStart, receiveHeadersEnd } = response.timing;
  const body = page.settings.hashed ? await page.body(requestId) : null;
  const firstByte = receiveHeadersStart > 0 ? receiveHeadersStart : receiveHeadersEnd;
  return {
    path,
    status: response.status,
    bytes: body ? body.length : resource.bytes,
    sha256: body ? createHash('sha256').update(body).digest('hex') : null,
    protocol: page.settings.protocol,
    start_s: rounded(Math.max(0, requestTime - start)),
    first_byte_s: rounded(requestTime + firstByte / 1000 - start),
    end_s: rounded(resource.end - start),
  };
}

// Resolve with TIMING. Throws Refusal where a resource is not what was asked for.
async function timingOf(recorder, page, metrics) {
  const start = startOf(recorder);
  const resources = recorder.wanted.map((path) => recorder.of(path));
  for (const resource of resources) checkAnswer(resource, page.settings);
  const [{ response, timestamp, wallTime }] = resources;
  const { connectStart, connectEnd } = response.timing;
  const { cipher, keyExchangeGroup, keyExchange } = response.securityDetails;
  return {
    protocol: page.settings.protocol,
    start: rounded(start + wallTime - timestamp),
    handshake_s: rounded((connectEnd - connectStart) / 1000),
    resumed: false,
    early_data: false,
    connections: new Set(resources.map((resource) => resource.response.connectionId)).size,
    negotiated: { cipher, group: keyExchangeGroup || keyExchange },
    metrics,
    objects: await Promise.all(resources.map((resource) => objectOf(resource, page, start))),
  };
}

module.exports = { rounded, startOf, timingOf };
