// Loads the scripts of a bundle with scriptLoader.cjs, and gives them what only modules have. The loader is another file, because
// tsx reads each letter of a module that has an import, for 0.01 s of CPU.
const OWN_URL = import.meta.url;
const fs = process.getBuiltinModule('node:fs');
const { fileURLToPath } = process.getBuiltinModule('node:url');
const { Script } = process.getBuiltinModule('node:vm');

// biome-ignore lint/security/noGlobalEval: functions of the program arrive as text.
const evaluate = globalThis.eval;

/** What modules have and scripts lack. Code that this module evaluates, such as functions of tasks, may import modules. */
const MODULE = {
  evaluate: (code) => evaluate(code),
  resolve: (specifier) => import.meta.resolve(specifier),
};

function read(file) {
  try {
    return fs.readFileSync(file);
  } catch (cause) {
    const advice = /^E[MN]FILE$/.test(cause.code)
      ? `${cause.message}. Close files and connections, or raise the limit, e.g. with: ulimit -n 1024.`
      : 'If the program was bundled, exclude Longpole from the bundle, e.g. with esbuild --external:longpole. Otherwise install longpole again.';
    const error = new Error(`Longpole's file ${file} cannot be read. ${advice}`, { cause });
    throw Object.assign(error, { code: 'ERR_LONGPOLE_INSTALLATION' });
  }
}

const LOADER = new URL('scriptLoader.cjs', OWN_URL);
const script = new Script(read(fileURLToPath(LOADER)).toString(), { filename: LOADER.href });
const makeLoader = script.runInThisContext();

/** Returns the exports of a script, e.g. of `./index.cjs`. The first call runs it. */
export default makeLoader(OWN_URL, MODULE, read);
