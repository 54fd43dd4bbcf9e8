// The DevTools protocol over two pipes: no port that listens, and the browser ends when the pipes close.
// Drivers with more comfort start the browser in a process group of its own, where the SIGKILL that
// ends a load does not reach it.
'use strict';

const { EventEmitter } = require('node:events');

// Emits every event of the protocol as `event` ({method, params, sessionId}).
class DevTools extends EventEmitter {
  #input;

  #waiting = new Map();

  #last = 0;

  #partial = [];

  constructor(input, output) {
    super();
    this.#input = input;
    input.on('error', () => {}); // the browser is gone: `closed` tells why
    output.on('data', (chunk) => this.#receive(chunk));
    output.on('close', () => this.close('the browser ended'));
  }

  // Send a command and resolve with its result; rejects with the protocol's message.
  send(method, params = {}, sessionId = undefined) {
    this.#last += 1;
    const id = this.#last;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject, method });
      this.#input.write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    });
  }

  // Reject everything that is still waited for.
  close(reason) {
    for (const { reject, method } of this.#waiting.values()) reject(new Error(`${method}: ${reason}`));
    this.#waiting.clear();
    this.emit('closed');
  }

  // Messages end with a zero byte; a long one comes in many chunks.
  #receive(chunk) {
    let begin = 0;
    for (let end = chunk.indexOf(0); end >= 0; end = chunk.indexOf(0, begin)) {
      this.#partial.push(chunk.subarray(begin, end));
      const text = Buffer.concat(this.#partial).toString();
      this.#partial = [];
      begin = end + 1;
      this.#dispatch(JSON.parse(text));
    }
    this.#partial.push(chunk.subarray(begin));
  }

  #dispatch(message) {
    if (message.id === undefined) {
      this.emit('event', message);
      return;
    }
    const { resolve, reject, method } = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    if (message.error) reject(new Error(`${method}: ${message.error.message}`));
    else resolve(message.result);
  }
}

module.exports = { DevTools };
