// Serve a folder over SPDY/3.1. Reads the environment of docs/formats.md, section 2.
'use strict';

const fs = require('node:fs');
const path = require('node:path');
const { checkSupported, keyLogger, quit, required, requiredNumber } = require('./common.js');
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
    quit(1, `WWW: ${error.message}`);
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
  checkSupported();
  const [address, port] = [required('ADDRESS'), requiredNumber('PORT', 1)];
  const server = createService(readContent(required('WWW')));
  const onKeys = keyLogger();
  if (onKeys) server.on('keylog', onKeys);
  stopOnSignal(server);
  await warmUp();
  server.on('error', (error) => quit(1, error.message));
  server.listen(port, address);
}

main().catch((error) => quit(1, error.message));
