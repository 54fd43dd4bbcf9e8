// Data come as scripts that call howquick.data(key, value): a page from the disk may load nothing else.
'use strict';

const howquick = (() => {
  /** @type {Map<string, any>} */
  const arrived = new Map();
  /** @type {Map<string, Promise<any>>} */
  const waiting = new Map();

  /**
   * Called by every file below data/.
   * @param {string} key
   * @param {any} value
   */
  function data(key, value) {
    arrived.set(key, value);
  }

  /**
   * The value of a file that the page itself names, and so has.
   * @param {string} key
   * @returns {any}
   */
  function given(key) {
    return arrived.get(key);
  }

  /**
   * The value under a key; rejects where the folder has no such file.
   * @param {string} key
   * @returns {Promise<any>}
   */
  function load(key) {
    if (arrived.has(key)) return Promise.resolve(arrived.get(key));
    const asked = waiting.get(key);
    if (asked) return asked;
    const promise = new Promise((resolve, reject) => {
      const element = document.createElement('script');
      element.src = `data/${key.split('/').map(encodeURIComponent).join('/')}.js`;
      element.onload = () => (arrived.has(key) ? resolve(arrived.get(key)) : reject(new Error(`data/${key}.js holds something else`)));
      element.onerror = () => reject(new Error(`data/${key}.js is not there`));
      document.head.append(element);
    });
    promise.catch(() => {}).finally(() => waiting.delete(key));
    waiting.set(key, promise);
    return promise;
  }

  /**
   * A column of a table as a list.
   * @param {Table | undefined} table
   * @param {string} name
   * @returns {any[]}
   */
  function column(table, name) {
    const packed = table && table.columns[name];
    if (!table || packed === undefined) return new Array(table ? table.n : 0).fill(null);
    if (Array.isArray(packed)) return packed;
    if ('all' in packed) return new Array(table.n).fill(packed.all);
    if ('begin' in packed) return packed.end.map((/** @type {string} */ rest) => packed.begin + rest);
    return packed.at.map((/** @type {number} */ index) => packed.of[index]);
  }

  const decoded = new WeakMap();

  /**
   * A table as a list of objects; decoded once.
   * @param {Table | undefined} table
   * @returns {Row[]}
   */
  function rows(table) {
    if (!table) return [];
    if (!decoded.has(table)) {
      const names = Object.keys(table.columns);
      const columns = names.map((name) => column(table, name));
      // Row by row: engines keep objects small that are filled at once.
      decoded.set(table, Array.from({ length: table.n }, (_, index) => {
        /** @type {Row} */
        const row = {};
        for (let at = 0; at < names.length; at += 1) row[names[at]] = columns[at][index];
        return row;
      }));
    }
    return decoded.get(table);
  }

  return { data, given, load, column, rows };
})();
