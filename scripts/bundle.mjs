// Bundles the modules of `dist/` into few files in `dist/bundle/`, because Node needs half a millisecond of CPU for each
// module that it loads, in every process and isolate. All files lie in one folder, so that they find one another.
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
  'engine/pool/programHooks.js',
  'engine/worker/compiledHooks.js',
  'engine/worker/lineHooks.js',
  'engine/worker/processMain.js',
  'engine/worker/threadMain.js',
  'engine/workerProcess/workerProcessMain.js',
];
/** Entries that share no file: with the parts that they need of shared files, they are much smaller. */
const ALONE = ['resources/resourceMonitorThread.js'];
/** Modules that keep a file of their own, because the profiler recognises them by their URL. */
const OWN_FILES = ['evaluator.js', 'loadFunctions.js', 'isolateRun.js', 'isolateRuntime.js'].map(
  (file) => `engine/worker/${file}`,
);

/** Modules with which programs and isolates start. Modules that the same of them load share a file. */
const STARTS = ['api/index.js', 'api/local.js', 'engine/poolRun.js', 'engine/worker/threadMain.js'];
const [PROGRAM, , , ISOLATE] = STARTS;
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
const fileOf = new Map(
  [...ENTRIES, ...ALONE, ...OWN_FILES].map((module) => [resolve(dist, module), `./${basename(module)}`]),
);

/** File with the only `import()` of the bundle. */
const IMPORT_FILE = 'dynamicImport.js';
const IMPORT_NAME = '__longpole_import';
const BUILTIN = /^import (?:\* as )?(\w+|\{[^}]*\}) from "(node:[^"]+)";$/gm;

/**
 * Replaces the imports that cost most, and keeps the lines. A static import of Node's modules makes Node list their exports,
 * which loads e.g. the streams for `node:fs`: 5 ms of CPU for the modules of an isolate. tsx rewrites files with an `import()`, also
 * JavaScript: 200 ms for a program that imports the package. So all files share the `import()` of a small file in their folder.
 */
function cheapImports() {
  let isShared = false;
  return {
    name: 'cheap-imports',
    renderChunk(code) {
      const edits = [];
      visitNodes(this.parse(code), ({ type, start }) => {
        if (type === 'ImportExpression') edits.push(start);
        return true;
      });
      for (const start of edits.toReversed())
        code = `${code.slice(0, start)}${IMPORT_NAME}${code.slice(start + 'import'.length)}`;
      code = code.replace(
        BUILTIN,
        (_import, names, module) =>
          `const ${names.replaceAll(' as ', ': ')} = process.getBuiltinModule("${module}");`,
      );
      if (edits.length > 0) {
        code = withFirst(`import ${IMPORT_NAME} from "./${IMPORT_FILE}";`, code);
        isShared = true;
      }
      return { code, map: null };
    },
    generateBundle() {
      if (!isShared) return;
      const source = 'export default (specifier) => import(specifier);\n';
      this.emitFile({ type: 'asset', fileName: IMPORT_FILE, source });
    },
  };
}

/** Puts a statement into the first line of code, or into the second one behind a `#!` line. */
function withFirst(statement, code) {
  const from = code.startsWith('#!') ? code.indexOf('\n') + 1 : 0;
  return `${code.slice(0, from)}${statement} ${code.slice(from)}`;
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
      filter: { code: 'import.meta.url' },
      handler(code, id) {
        const edits = [];
        visitNodes(this.parse(code), (node) => {
          const file = isUrlOf(node) ? fileOf.get(resolve(dirname(id), node.arguments[0].value)) : undefined;
          if (file !== undefined) edits.push([node, `new URL('${file}', import.meta.url)`]);
          else if (isModuleUrl(node)) {
            const own = fileOf.get(id) ?? `../${relative(dist, id).split(sep).join('/')}`;
            edits.push([node, `new URL('${own}', import.meta.url).href`]);
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

function isModuleUrl(node) {
  return (
    node.type === 'MemberExpression' && node.object.type === 'MetaProperty' && node.property.name === 'url'
  );
}

/** Whether the node is `new URL('…', import.meta.url)`. */
function isUrlOf(node) {
  if (node.type !== 'NewExpression' || node.callee.name !== 'URL') return false;
  const [path, base] = node.arguments;
  return typeof path?.value === 'string' && base !== undefined && isModuleUrl(base);
}

/** Returns the ids of a module and of all modules that it imports statically. */
function reachableFrom(module, context) {
  const reached = new Set([module]);
  for (const id of reached)
    for (const next of context.getModuleInfo(id)?.importedIds ?? []) reached.add(next);
  return reached;
}

let reached;

/**
 * Returns the name of the file for modules that the same starts load, or that every command loads. Those of isolates and
 * worker processes are not divided by commands, which start less often. An entry stays alone, because it may run code.
 */
function startFile(id, context) {
  reached ??= new Map(
    [...STARTS, WORKER, ...CLUSTER, RUN, ...COMMANDS].map((start) => [
      start,
      reachableFrom(resolve(dist, start), context),
    ]),
  );
  const loads = (start) => reached.get(start).has(id);
  const starts = STARTS.filter(loads);
  if (fileOf.has(id)) return null;
  if (starts.length === 0 && !COMMANDS.every(loads)) return null;
  if (starts.length === 0 && CLUSTER.some(loads)) return 'cluster-commands-modules';
  if (starts.length === 0) return loads(RUN) ? 'run-commands-modules' : 'commands-modules';
  // Each program that starts isolates loads nearly all of these modules.
  if (loads(ISOLATE) && (starts.length > 1 || CLUSTER.some(loads) || loads(WORKER)))
    return 'programs-isolates-modules';
  // Few files of programs are split for workers, because every file costs all of its starts.
  const isOfWorker = loads(WORKER) && !loads(ISOLATE);
  const names = (isOfWorker && loads(PROGRAM) ? [PROGRAM] : starts).map(nameOf);
  if (isOfWorker) names.push(nameOf(WORKER));
  else if (!loads(ISOLATE) && COMMANDS.some(loads)) names.push('commands');
  return `${names.join('-')}-modules`;
}

const isPackage = (id) => !id.startsWith('.') && !id.startsWith(dist);
/** Packages that the files for workers do not contain: their binaries are optional there, or they compile programs. */
const isLeftOut = (id) => /^(koffi|lz4-napi|tsx|esbuild|bufferutil|utf-8-validate)(\/|$)/.test(id);
/** Packages that Longpole loads at their first use, see `base/packages.ts`. */
const LATE_PACKAGES = ['acorn', 'eslint-scope', 'yaml'];

/** Writes the files of modules to a folder of `dist/`, with source maps of the compiler or without comments and spaces. */
async function writeBundle(folder, modules, external, sourcemap) {
  const plugins = [...(sourcemap ? [sourceMaps()] : []), urls(), cheapImports()];
  const output = {
    sourcemap,
    minify: sourcemap ? false : { compress: false, mangle: false, codegen: { removeWhitespace: true } },
  };
  const bundle = await rolldown({
    cwd: dist,
    platform: 'node',
    external,
    input: Object.fromEntries(modules.map((module) => [nameOf(module), resolve(dist, module)])),
    preserveEntrySignatures: 'allow-extension',
    plugins,
  });
  reached = undefined;
  await bundle.write({
    dir: `${dist}/${folder}`,
    cleanDir: true,
    ...output,
    entryFileNames: '[name].js',
    chunkFileNames: '[name].js',
    codeSplitting: {
      groups: [
        ...OWN_FILES.map((module) => ({
          name: nameOf(module),
          test: (id) => id === resolve(dist, module),
          priority: 1,
        })),
        { name: startFile, debugName: 'starts' },
      ],
      includeDependenciesRecursively: false,
    },
  });
  for (const module of ALONE)
    await writeFile(`${folder}/${basename(module)}`, resolve(dist, module), external, output, plugins);
}

/** Writes a module with all its imports to a file of `dist/`. */
async function writeFile(file, input, external, output, plugins = []) {
  const bundle = await rolldown({ cwd: dist, platform: 'node', external, input, plugins });
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
