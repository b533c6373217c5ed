// Bundles the modules of `dist/` into few scripts in `dist/bundle/`, because Node needs half a millisecond of CPU or more for
// each module that it loads, in every process and isolate, and compiles it each time. All files lie in one folder, so that
// they find one another. lib/loadScript.mjs and lib/scriptLoader.cjs load them.
import { readFileSync } from 'node:fs';
import { basename, dirname, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

/** Modules that a program, Node or the package loads by their URL. Each has a file of its name. */
const ENTRIES = [
  'api/index.js',
  'api/local.js',
  'api/diagnostics.js',
  'api/trace.js',
  'api/analysis.js',
  'cli/main.js',
  'cli/run/preload.js',
  'dask/functionBundle.js',
  'diagnostics/progressThread.js',
  'engine/worker/lineHooks.js',
  'engine/worker/processMain.js',
  'engine/worker/threadMain.js',
  'engine/workerProcess/workerProcessMain.js',
];
/** Hooks of Node's module loader: modules without imports, because Node 20 loads them in a thread that has nothing of Longpole. */
const HOOKS = ['engine/pool/programHooks.js', 'engine/worker/compiledHooks.js'];
/** Entries that share no file: with the parts that they need of shared files, they are much smaller. */
const ALONE = ['resources/resourceMonitorThread.js'];
/**
 * Entries with which a thread or a process of a worker starts. Node starts them as CommonJS, which takes 7 to 10 ms of CPU
 * less than as a module, or 3 ms less in a thread if a task imports a module later.
 */
const COMMON_STARTS = [
  'diagnostics/progressThread.js',
  'engine/worker/processMain.js',
  'engine/worker/threadMain.js',
  'engine/workerProcess/workerProcessMain.js',
  ...ALONE,
];
/** Modules that keep a file of their own, because the profiler recognises them by their URL. */
const OWN_FILES = ['evaluator.js', 'loadFunctions.js', 'isolateRun.js', 'isolateRuntime.js'].map(
  (file) => `engine/worker/${file}`,
);

/** Modules with which programs start. */
const PROGRAMS = ['api/index.js', 'api/local.js', 'engine/poolRun.js'];
/**
 * Modules that only calls of these programs use. Isolates import the package for its tasks, so a file loads these modules, and
 * what only they import, when it uses them.
 */
const LATE = [
  'analysis/profile.js',
  'analysis/table.js',
  'api/planGraph.js',
  'diagnostics/callbackObservers.js',
  'engine/cluster/computationState.js',
  'engine/inlineRun.js',
  'engine/taskFailure.js',
  'graph/compile.js',
  'graph/order.js',
  'graph/shipFunction.js',
  'pipeline/drawing.js',
];
/** What a local run loads when it starts. */
const LOCAL_RUN = ['diagnostics/callbackObservers.js', 'graph/compile.js', 'engine/poolRun.js'];
const ISOLATE = 'engine/worker/threadMain.js';
const STARTS = [...PROGRAMS, ISOLATE];
/** The start of a worker process. It needs a sixth of what only programs load, and most of what isolates load. */
const WORKER = 'engine/workerProcess/workerProcessMain.js';
/** The parts of a cluster, which programs load later. */
const CLUSTER = ['clusterParts', 'clientTools', 'servedTasks'].map((name) => `api/cluster/${name}.js`);
/** Commands that read traces. They have to load no module of a program's start that they do not use. */
const COMMANDS = ['analyze', 'diff', 'export', 'run/report', 'simulate', 'view'].map(
  (name) => `cli/${name}.js`,
);
/** What `longpole run` loads before it starts the program. */
const RUN = 'cli/run.js';

const dist = fileURLToPath(new URL('../dist', import.meta.url));
const nameOf = (module) => basename(module, '.js');
/** Returns the name of the file with which an entry starts. It loads the script of the entry. */
function startOf(module) {
  return `${nameOf(module)}${COMMON_STARTS.includes(module) ? '.start.cjs' : '.js'}`;
}
const fileOf = new Map([
  ...[...ENTRIES, ...ALONE, ...HOOKS].map((module) => [resolve(dist, module), `./${startOf(module)}`]),
  ...OWN_FILES.map((module) => [resolve(dist, module), `./${nameOf(module)}.cjs`]),
]);

/** The files of the bundle that load the others. */
const SCRIPT_LOADER = readFileSync(new URL('lib/scriptLoader.cjs', import.meta.url), 'utf8');
const LOADER = readFileSync(new URL('lib/loadScript.mjs', import.meta.url), 'utf8');
/** What CommonJS lacks. */
const RESOLVER = 'export default (specifier) => import.meta.resolve(specifier);\n';
/** What the loader needs if the program must not evaluate texts. */
const IMPORTER = 'module.exports = (specifier) => import (specifier);\n';
/**
 * The loader as CommonJS. There, resolving a specifier returns a promise. tsx rewrites CommonJS with the text `import(`, for 0.05 s
 * of CPU.
 */
const COMMON_LOADER = LOADER.replace(
  'import.meta.url',
  "process.getBuiltinModule('node:url').pathToFileURL(__filename).href",
)
  .replace(
    'import.meta.resolve(specifier)',
    "import ('./resolver.js').then((module) => module.default(specifier))",
  )
  .replace('export default', 'module.exports =');
/** Its parameter of each script with what modules have and scripts lack. */
const MODULE = '__longpole';
/** Modules that take milliseconds to load, and their uses. They are loaded when they are used. */
const COSTLY =
  /let (\w+) = require\("(node:(?:child_process|crypto|inspector|net|perf_hooks|zlib)|msgpackr\/(?:un)?pack|@jridgewell\/sourcemap-codec)"\);/g;
const COSTLY_USE =
  /\b(node_(?:child_process|crypto|inspector|net|perf_hooks|zlib)|msgpackr_(?:un)?pack|_jridgewell_sourcemap_codec)\./g;
/** Files that isolates load for tasks, the files of LATE, and their uses there. The getter replaces itself. */
const EARLY_FILE = /^programs-(shared-)?modules\.cjs$/;
const LATE_FILE = /const (require_\w+_late_modules) = (require\("\.\/[\w-]+-late-modules\.cjs"\));/g;
const LATE_USE = /\brequire_\w+_late_modules\./g;
const GETTER =
  /Object\.defineProperty\(exports, "(\w+)", \{\s*enumerable: true,\s*get: function\s*\(\) \{\s*return (\w+);\s*\}\s*\}\);/g;

/**
 * Makes scripts of the files, which scriptLoader.cjs runs, and for each entry a module `NAME.js` with its exports. Exports
 * are properties instead of getters, which calls between files would pay for, unless their variables change.
 */
function scripts() {
  return {
    name: 'scripts',
    renderChunk(code, { fileName }) {
      const imports = [];
      const changing = new Set();
      visitNodes(this.parse(code), (node) => {
        if (node.type === 'ImportExpression') imports.push(node.start);
        if (node.type === 'AssignmentExpression') changing.add(node.left.name);
        if (node.type === 'UpdateExpression') changing.add(node.argument.name);
        return true;
      });
      for (const start of imports.toReversed())
        code = `${code.slice(0, start)}${MODULE}.${code.slice(start)}`;
      code = code
        .replace(COSTLY, 'const $1 = { get loaded() { return require("$2"); } };')
        .replace(COSTLY_USE, '$1.loaded.');
      if (EARLY_FILE.test(fileName))
        code = code
          .replace(
            LATE_FILE,
            'const $1 = { get loaded() { Object.defineProperty(this, "loaded", { value: $2 }); return this.loaded; } };',
          )
          .replace(LATE_USE, '$&loaded.');
      code = code.replace(GETTER, (getter, name, variable) =>
        changing.has(variable) ? getter : `exports.${name} = ${variable};`,
      );
      return { code: code.replace(/^#!.*/, ''), map: null };
    },
    generateBundle(_options, files) {
      this.emitFile({ type: 'asset', fileName: 'scriptLoader.cjs', source: SCRIPT_LOADER });
      this.emitFile({ type: 'asset', fileName: 'loadScript.js', source: LOADER });
      this.emitFile({ type: 'asset', fileName: 'loadScript.cjs', source: COMMON_LOADER });
      this.emitFile({ type: 'asset', fileName: 'resolver.js', source: RESOLVER });
      this.emitFile({ type: 'asset', fileName: 'importer.cjs', source: IMPORTER });
      for (const file of Object.values(files)) {
        if (file.type === 'chunk') file.code = ascii(file.code);
        if (!file.isEntry) continue;
        const { fileName } = file;
        const { exports } = this.getModuleInfo(file.facadeModuleId);
        const module = relative(dist, file.facadeModuleId).split(sep).join('/');
        const source = COMMON_STARTS.includes(module)
          ? commonStartOf(fileName)
          : moduleOf(fileName, exports.sort());
        this.emitFile({ type: 'asset', fileName: startOf(module), source });
      }
    },
  };
}

/** Escapes other characters. In memory, V8 needs two bytes for each character of a script that is not Latin-1. */
function ascii(code) {
  if (/\bString\.raw`[^`]*\P{ASCII}/u.test(code))
    throw new Error('String.raw would show an escaped character.');
  const escaped = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return code.replace(/\P{ASCII}/gu, (character) => character.split('').map(escaped).join(''));
}

/** Returns the module of an entry: it has the exports of its script. If one is `start`, it calls and awaits it first. */
function moduleOf(fileName, exports) {
  const lines = [`import loadScript from './loadScript.js';`, `const script = loadScript('./${fileName}');`];
  if (exports.includes('start')) lines.unshift('#!/usr/bin/env node');
  if (exports.includes('start')) lines.push('await script.start();');
  // One line for all names, because tsx reads each letter of a module that has an import.
  lines.push(`export const { ${exports.join(', ')} } = script;`);
  return lines.join('\n');
}

/** Returns the start of a worker. It has no exports. */
function commonStartOf(fileName) {
  return `require('./loadScript.cjs')('./${fileName}');\n`;
}

/** Calls `visitor` for each node below a syntax tree, and not for the parts of those for which it returns false. */
function visitNodes(node, visitor) {
  if (Array.isArray(node)) for (const each of node) visitNodes(each, visitor);
  else if (typeof node?.type === 'string' && visitor(node)) visitNodes(Object.values(node), visitor);
}

/** Reads modules with the source maps of the compiler. */
function sourceMaps() {
  return {
    name: 'source-maps',
    load: {
      filter: { id: /\.js$/ },
      handler: (id) => ({ code: readFileSync(id, 'utf8'), map: readFileSync(`${id}.map`, 'utf8') }),
    },
  };
}

/**
 * Replaces `import.meta.url` by the URL of the module in `dist/`, so that files beside it are found as without a bundle,
 * and the URLs of entries by those of their files in the bundle.
 */
function urls() {
  return {
    name: 'urls',
    transform: {
      filter: { code: /import\.meta\.(url|resolve)|globalThis\.eval/ },
      handler(code, id) {
        const edits = [];
        visitNodes(this.parse(code), (node) => {
          const file = isUrlOf(node) ? fileOf.get(resolve(dirname(id), node.arguments[0].value)) : undefined;
          if (file !== undefined) edits.push([node, `new URL('${file}', ${MODULE}.url)`]);
          else if (isMeta(node, 'resolve')) edits.push([node, `${MODULE}.resolve`]);
          else if (isGlobalEval(node)) edits.push([node, `${MODULE}.evaluate`]);
          else if (isMeta(node, 'url')) {
            const own = fileOf.get(id) ?? `../${relative(dist, id).split(sep).join('/')}`;
            edits.push([node, `new URL('${own}', ${MODULE}.url).href`]);
          } else return true;
          return false;
        });
        for (const [{ start, end }, text] of edits.toReversed())
          code = code.slice(0, start) + text + code.slice(end);
        return { code, map: null };
      },
    },
  };
}

function isMeta(node, property) {
  return (
    node.type === 'MemberExpression' && node.object.type === 'MetaProperty' && node.property.name === property
  );
}

function isGlobalEval({ type, object, property }) {
  return type === 'MemberExpression' && object.name === 'globalThis' && property.name === 'eval';
}

/** Whether the node is `new URL('…', import.meta.url)`. */
function isUrlOf(node) {
  if (node.type !== 'NewExpression' || node.callee.name !== 'URL') return false;
  const [path, base] = node.arguments;
  return typeof path?.value === 'string' && base !== undefined && isMeta(base, 'url');
}

/** Returns the ids of a module and of all modules that it imports statically, without those in `except`. */
function reachableFrom(module, context, except = new Set()) {
  const reached = new Set([module]);
  for (const id of reached)
    for (const next of context.getModuleInfo(id)?.importedIds ?? []) if (!except.has(next)) reached.add(next);
  return reached;
}

let reached;
/** Modules that `import 'longpole'` loads at once. */
let early;

/**
 * Returns the name of the file for modules that the same of programs, isolates, worker processes and commands load. A file
 * costs less than a start that loads what it does not use. An entry stays alone, because it may run code.
 */
function startFile(id, context) {
  reached ??= new Map(
    [...STARTS, ...LOCAL_RUN, WORKER, ...CLUSTER, RUN, ...COMMANDS].map((start) => [
      start,
      reachableFrom(resolve(dist, start), context),
    ]),
  );
  const missing = LATE.find((late) => !context.getModuleInfo(resolve(dist, late)));
  if (missing !== undefined)
    throw new Error(`LATE in scripts/bundle.mjs names ${missing}, which does not exist.`);
  early ??= reachableFrom(
    resolve(dist, PROGRAMS[0]),
    context,
    new Set(LATE.map((late) => resolve(dist, late))),
  );
  const loads = (start) => reached.get(start).has(id);
  if (fileOf.has(id)) return null;
  const name = STARTS.some(loads) ? programFile(loads, early.has(id)) : laterFile(loads);
  return name === undefined ? null : `${name}-modules`;
}

function programFile(loads, isEarly) {
  const isOfIsolate = loads(ISOLATE);
  // Each program that starts isolates loads nearly all of these modules.
  if (isOfIsolate && [...PROGRAMS, WORKER, ...CLUSTER].some(loads)) return 'programs-isolates';
  if (isOfIsolate) return 'isolates';
  const others = loads(WORKER) ? '-workers' : COMMANDS.some(loads) ? '-commands' : '';
  if (isEarly) return others === '' ? 'programs' : 'programs-shared';
  // A local run loads a third of what commands also load.
  if (others === '-commands' && LOCAL_RUN.some(loads)) return 'runs-commands-late';
  return `programs${others}-late`;
}

function laterFile(loads) {
  const isOfCluster = CLUSTER.some(loads);
  if (COMMANDS.every(loads))
    return isOfCluster ? 'cluster-commands' : loads(RUN) ? 'run-commands' : 'commands';
  if (isOfCluster) return loads(WORKER) ? 'cluster-workers' : 'cluster';
  return loads(WORKER) ? 'workers' : undefined;
}

const isPackage = (id) => !id.startsWith('.') && !id.startsWith(dist);
/** Packages that the files for workers do not contain: their binaries are optional there, or they compile programs. */
const isLeftOut = (id) => /^(koffi|lz4-napi|tsx|esbuild|bufferutil|utf-8-validate)(\/|$)/.test(id);
/** Packages that Longpole loads at their first use, see `base/packages.ts`. */
const LATE_PACKAGES = ['acorn', 'eslint-scope', 'yaml'];

/** Writes the files of modules to a folder of `dist/`, with source maps of the compiler or without comments and spaces. */
async function writeBundle(folder, modules, external, sourcemap) {
  const plugins = [...(sourcemap ? [sourceMaps()] : []), urls(), scripts()];
  const output = {
    sourcemap,
    minify: sourcemap ? false : { compress: false, mangle: false, codegen: { removeWhitespace: true } },
  };
  const write = async (entries, options) => {
    const bundle = await rolldown({
      cwd: dist,
      platform: 'node',
      external,
      input: Object.fromEntries(entries.map((module) => [nameOf(module), resolve(dist, module)])),
      preserveEntrySignatures: 'allow-extension',
      plugins,
      // Imports that are dynamic for the modules of dist/ need not divide the files of the bundle.
      checks: { ineffectiveDynamicImport: false },
    });
    const names = { entryFileNames: '[name].cjs', chunkFileNames: '[name].cjs' };
    await bundle.write({ dir: `${dist}/${folder}`, format: 'cjs', ...names, ...output, ...options });
  };
  reached = undefined;
  early = undefined;
  const groups = [
    ...OWN_FILES.map((module) => ({
      name: nameOf(module),
      test: (id) => id === resolve(dist, module),
      priority: 1,
    })),
    { name: startFile, debugName: 'starts' },
  ];
  await write(modules, { cleanDir: true, codeSplitting: { groups, includeDependenciesRecursively: false } });
  for (const module of ALONE) await write([module], { codeSplitting: false });
  for (const module of HOOKS)
    await writeFile(`${folder}/${nameOf(module)}.js`, resolve(dist, module), isPackage);
}

/** Writes a module with all its imports to a file of `dist/`. */
async function writeFile(file, input, external, output) {
  const bundle = await rolldown({ cwd: dist, platform: 'node', external, input });
  await bundle.write({ file: `${dist}/${file}`, codeSplitting: false, ...output });
}

await writeBundle('bundle', ENTRIES, isPackage, true);
// Python sends this program to workers as one file.
await writeFile('bundle/typescriptCalls.js', resolve(dist, 'engine/worker/typescriptCalls.js'), isPackage, {
  minify: true,
});

// What workers of a Dask cluster get, see src/dask/workerFiles.ts. Longpole is not installed there.
const forWorkers = ENTRIES.filter((module) => !/^(cli|dask)\//.test(module));
await writeBundle('worker/bundle', forWorkers, isLeftOut, false);
for (const name of LATE_PACKAGES)
  await writeFile(`worker/packages/${name}.js`, name, () => false, { format: 'cjs', minify: true });
