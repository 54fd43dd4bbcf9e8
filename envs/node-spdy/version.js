// Print the versions of node-spdy, its transport and Node.
'use strict';

const { load } = require('./common.js');

const [spdy, transport] = ['spdy', 'spdy-transport'].map((name) => load(`${name}/package.json`).version);
console.log(`node-spdy ${spdy} spdy-transport ${transport} node ${process.version} openssl ${process.versions.openssl}`);
