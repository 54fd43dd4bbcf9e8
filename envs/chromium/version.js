// Print the version of the browser that will run.
'use strict';

const { spawnSync } = require('node:child_process');
const { program } = require('./browser.js');

const done = spawnSync(program(), ['--version'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
if (done.error) {
  process.stderr.write(`chromium: ${done.error.message}; is the package chromium installed?\n`);
  process.exit(1);
}
process.stdout.write(done.stdout);
process.exit(done.status);
