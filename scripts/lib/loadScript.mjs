// Loads the scripts of a bundle, which lie beside this file, see scripts/bundle.mjs. V8 compiles a script once for all
// programs and isolates, and keeps the result in a file. For modules, Node does this only from version 22 on, and on request.
const { Script } = process.getBuiltinModule('node:vm');
const { cachedDataVersionTag } = process.getBuiltinModule('node:v8');
const { crc32 } = process.getBuiltinModule('node:zlib');
const fs = process.getBuiltinModule('node:fs');
const { fileURLToPath } = process.getBuiltinModule('node:url');

const OWN_URL = import.meta.url;
const FOLDER = fileURLToPath(new URL('compiled/', OWN_URL));
/** V8 takes only what the same version compiled with the same options, for a processor with the same features. */
const VERSION = `${process.arch}-${cachedDataVersionTag().toString(36)}`;
const CHECKSUM_BYTES = 4;

// biome-ignore lint/security/noGlobalEval: functions of the program arrive as text.
const evaluate = globalThis.eval;

let importer;

/**
 * Returns a function that calls `import()`. It is evaluated, because tsx rewrites each module that has an `import()`, and makes a
 * source map of it: 0.01 to 0.02 s of CPU. A program may forbid that texts are evaluated, so there is also a file.
 */
function makeImporter() {
  try {
    return evaluate('(specifier) => import(specifier)');
  } catch {
    return requireFile('./importer.cjs');
  }
}

/** What modules have and scripts lack. Code that this module evaluates, such as functions of tasks, may contain `import()`. */
const MODULE = {
  evaluate: (code) => evaluate(code),
  import: (specifier) => {
    importer ??= makeImporter();
    return importer(specifier);
  },
  resolve: (specifier) => import.meta.resolve(specifier),
};

/**
 * Exports by the name of the script. A thread that starts as CommonJS has this loader a second time if a task imports Longpole,
 * see scripts/bundle.mjs, but each script once.
 */
const LOADED = Symbol.for(`longpole ${FOLDER}`);
globalThis[LOADED] ??= new Map();
const loaded = globalThis[LOADED];
let ownRequire;

/** Returns the exports of a script, e.g. of `./index.cjs`. The first call runs it. */
export default function load(name) {
  let exports = loaded.get(name);
  if (exports === undefined) {
    exports = {};
    loaded.set(name, exports);
    const url = new URL(name, OWN_URL).href;
    try {
      compile(name, url)(exports, require, { url, ...MODULE });
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
  const bytes = read(url);
  const text = `(function (exports, require, __longpole) {'use strict';${bytes.latin1Slice()}\n})`;
  const file = `${FOLDER}${name.slice(2)}-${VERSION}`;
  // V8 compares only the length of the text, and keeps the URL for stacks and profiles, also if the folder was copied.
  const sum = crc32(bytes, crc32(url));
  const cachedData = keptIn(file, sum);
  const script = new Script(text, { filename: url, cachedData });
  if (cachedData === undefined) keepTwice(script, file, sum);
  return script.runInThisContext();
}

function read(url) {
  try {
    return fs.readFileSync(fileURLToPath(url));
  } catch (cause) {
    const advice =
      'If the program was bundled, exclude Longpole from the bundle, e.g. with esbuild --external:longpole.';
    const error = new Error(
      `Longpole's file ${url} cannot be read. ${advice} Otherwise install longpole again.`,
      { cause },
    );
    throw Object.assign(error, { code: 'ERR_LONGPOLE_INSTALLATION' });
  }
}

/** Returns what `keep` wrote for a script with this checksum. V8 would end the process if a byte of it had changed. */
function keptIn(file, sum) {
  try {
    const bytes = fs.readFileSync(file);
    const data = bytes.subarray(0, -CHECKSUM_BYTES);
    return bytes.readUInt32LE(data.length) === crc32(data, sum) ? data : undefined;
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

/** Writes what V8 compiled, if the folder is writable. Others may do the same, so a file gets its name when it is complete. */
function keep(script, file, sum) {
  const part = `${file}.${process.pid}-${Math.random().toString(36).slice(2)}`;
  try {
    fs.mkdirSync(FOLDER, { recursive: true });
    fs.writeFileSync(part, '');
    const data = script.createCachedData();
    const checksum = Buffer.alloc(CHECKSUM_BYTES);
    checksum.writeUInt32LE(crc32(data, sum));
    fs.writeFileSync(part, Buffer.concat([data, checksum]));
    fs.renameSync(part, file);
  } catch {
    if (fs.existsSync(part)) fs.rmSync(part);
  }
}
