// Serve a folder over SPDY/3.1. Reads the environment of docs/formats.md, section 2.
'use strict';

const fs = require('node:fs');
const path = require('node:path');
const { keyLogger, quit, readEnvironment } = require('./common.js');
const { Refusal } = require('./contract');
const { createService } = require('./service.js');
const { warmUp } = require('./warmup.js');

// All files below a folder, in memory, by their path on the server.
function readContent(folder) {
  const bodies = new Map([['/prime', Buffer.from('primed\n')]]);
  try {
    for (const name of fs.readdirSync(folder, { recursive: true })) {
      const file = path.join(folder, name);
      if (fs.statSync(file).isFile()) bodies.set(`/${name}`, fs.readFileSync(file));
    }
  } catch (error) {
    throw new Refusal(`WWW: ${error.message}`);
  }
  return bodies;
}

// End with status 0 on a signal, however many connections are open.
function stopOnSignal(server) {
  const sockets = new Set();
  server.on('secureConnection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  for (const signal of ['SIGTERM', 'SIGINT']) {
    process.on(signal, () => {
      server.close(() => process.exit(0));
      for (const socket of sockets) socket.destroy();
    });
  }
}

async function main() {
  const settings = readEnvironment('server');
  const server = createService(readContent(settings.www), settings);
  const onKeys = keyLogger(settings);
  if (onKeys) server.on('keylog', onKeys);
  stopOnSignal(server);
  await warmUp(settings);
  server.on('error', quit);
  server.listen(settings.port, settings.address);
}

main().catch(quit);
