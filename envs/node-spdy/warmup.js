// Load a small page from this process itself, so that the first real one does not wait for V8 to compile.
'use strict';

const path = require('node:path');
const { clientContext } = require('./common.js');
const { Connection } = require('./connection.js');
const { createService } = require('./service.js');

const OBJECTS = 20;
const OBJECT_BYTES = 20000;

// Uses a local socket in STATE: nothing of it reaches the network.
async function warmUp(settings) {
  const { host, windowBytes } = settings;
  const socket = path.join(settings.state, 'warm-up.sock');
  const paths = Array.from({ length: OBJECTS }, (_, number) => `/${number}`);
  const service = createService(new Map(paths.map((name) => [name, Buffer.alloc(OBJECT_BYTES, name)])), settings);
  await new Promise((resolve, reject) => {
    service.once('error', reject);
    service.listen(socket, resolve);
  });
  const connection = new Connection({
    target: { path: socket }, host, authority: host, context: clientContext(settings), windowBytes, hashed: true,
  });
  await connection.open();
  await Promise.all(paths.map((name) => connection.fetch(name)));
  await connection.close();
  await new Promise((resolve) => { service.close(resolve); });
}

module.exports = { warmUp };
