// Makes the function that loads the scripts of a bundle, which lie beside this file, see scripts/bundle.mjs. V8 compiles a script
// once for all programs and isolates, and keeps the result in a file. For modules, Node does this only from version 22 on, and on
// request. This file is a script too: loadScript.mjs evaluates it.
(function makeLoader(OWN_URL, MODULE, read) {
  const { Script } = process.getBuiltinModule('node:vm');
  const { cachedDataVersionTag } = process.getBuiltinModule('node:v8');
  const fs = process.getBuiltinModule('node:fs');
  const { fileURLToPath } = process.getBuiltinModule('node:url');

  const FOLDER_URL = new URL('.', OWN_URL).href;
  const FOLDER = fileURLToPath(FOLDER_URL);
  const KEPT_FOLDER = `${FOLDER}compiled`;
  /**
   * V8 takes only what the same version compiled with the same options, for a processor with the same features. Releases of Node
   * may have the same version of V8 with other internals, which V8 does not check: what 20.19 compiled fails in 20.20.
   */
  const TAG = cachedDataVersionTag();
  const VERSION = `${process.version}-${process.arch}-${TAG.toString(36)}`;

  let importer;

  /**
   * Returns a function that calls `import()`. The module evaluates it, because a script must not call `import()`, and because tsx
   * rewrites each module that does. A program may forbid that texts are evaluated, so there is also a file.
   */
  function makeImporter() {
    try {
      return MODULE.evaluate('(specifier) => import(specifier)');
    } catch {
      return requireFile('./importer.cjs');
    }
  }

  function importModule(specifier) {
    importer ??= makeImporter();
    return importer(specifier);
  }

  /**
   * Exports by the name of the script. A thread that starts as CommonJS has this loader a second time if a task imports Longpole,
   * see scripts/bundle.mjs, but each script once.
   */
  const LOADED = Symbol.for(`longpole ${FOLDER}`);
  globalThis[LOADED] ??= new Map();
  const loaded = globalThis[LOADED];
  let ownRequire;

  /** Returns the exports of a script, e.g. of `./index.cjs`. The first call runs it. */
  function load(name) {
    let exports = loaded.get(name);
    if (exports === undefined) {
      exports = {};
      loaded.set(name, exports);
      const file = name.slice(2);
      const url = FOLDER_URL + file;
      try {
        compile(file, url)(exports, require, { url, import: importModule, ...MODULE });
      } catch (error) {
        loaded.delete(name);
        throw error;
      }
    }
    return exports;
  }

  function require(specifier) {
    if (specifier.startsWith('./')) return load(specifier);
    const builtin = process.getBuiltinModule(specifier);
    if (builtin !== undefined) return builtin;
    return requireFile(specifier);
  }

  /** Returns the exports of a package, or of a file that Node loads. */
  function requireFile(specifier) {
    ownRequire ??= process.getBuiltinModule('node:module').createRequire(OWN_URL);
    return ownRequire(specifier);
  }

  function compile(name, url) {
    const bytes = read(FOLDER + name);
    const text = `(function (exports, require, __longpole) {'use strict';${bytes.latin1Slice()}\n})`;
    // V8 compares only the length of the text, and keeps the URL for stacks and profiles, also if the folder was copied.
    const kept = { file: `${KEPT_FOLDER}/${name}-${VERSION}`, source: [Buffer.from(url), bytes] };
    const cachedData = dataOf(kept);
    const script = new Script(text, { filename: url, cachedData });
    if (cachedData === undefined || script.cachedDataRejected) keepTwice(script, kept);
    return script.runInThisContext();
  }

  /**
   * Returns what `keep` wrote for a source. V8 would end the process if a byte of it had changed, so there are two equal copies. A
   * checksum needs node:zlib, which takes a program and each isolate 2 to 4 ms of CPU to load.
   */
  function dataOf({ file, source: [url, bytes] }) {
    try {
      const kept = fs.readFileSync(file);
      const size = (kept.length - url.length - bytes.length) / 2;
      const data = kept.subarray(0, size);
      const source = kept.subarray(2 * size);
      const isWhole =
        data.equals(kept.subarray(size, 2 * size)) &&
        url.equals(source.subarray(0, url.length)) &&
        bytes.equals(source.subarray(url.length));
      return isWhole ? data : undefined;
    } catch {
      // Not compiled yet, or not complete.
      return undefined;
    }
  }

  /** The arguments of `keep` for the scripts that this thread compiled. */
  const compiled = [];

  /** Also keeps a script when the program ends: V8 has compiled the functions then that the program called, for 0.01 s of CPU. */
  function keepTwice(...script) {
    keep(...script);
    if (compiled.length === 0)
      process.once('exit', () => {
        for (const each of compiled) keep(...each);
      });
    compiled.push(script);
  }

  /**
   * Writes what V8 compiled, if the folder is writable. Others may do the same, so a file gets its name when it is complete. After
   * a change of V8's options, e.g. for `gc()`, V8 would reject it in a program without that change.
   */
  function keep(script, { file, source }) {
    if (cachedDataVersionTag() !== TAG) return;
    const part = `${file}.${process.pid}-${Math.random().toString(36).slice(2)}`;
    try {
      fs.mkdirSync(KEPT_FOLDER, { recursive: true });
      fs.writeFileSync(part, '');
      const data = script.createCachedData();
      fs.writeFileSync(part, Buffer.concat([data, data, ...source]));
      fs.renameSync(part, file);
    } catch {
      if (fs.existsSync(part)) fs.rmSync(part);
    }
  }

  return load;
});
