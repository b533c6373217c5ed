// Bundles the modules of `dist/` into few files in `dist/bundle/`, because Node needs half a millisecond of CPU for each
// module that it loads, in every process and isolate. All files lie in one folder, so that they find one another.
import { readFileSync, rmSync } from 'node:fs';
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
  'diagnostics/progressThread.js',
  'engine/worker/lineHooks.js',
  'engine/worker/processMain.js',
  'engine/worker/threadMain.js',
  'engine/worker/workerPlugins.js',
  'engine/workerProcess/workerProcessMain.js',
  'resources/resourceMonitorThread.js',
];
/** Modules that keep a file of their own, because the profiler recognises them by their URL. */
const OWN_FILES = ['evaluator.js', 'loadFunctions.js', 'isolateRun.js', 'isolateRuntime.js'].map(
  (file) => `engine/worker/${file}`,
);

const dist = fileURLToPath(new URL('../dist', import.meta.url));
const nameOf = (module) => basename(module, '.js');
const fileOf = new Map(
  [...ENTRIES, ...OWN_FILES].map((module) => [resolve(dist, module), `./${basename(module)}`]),
);

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
        const visit = (node) => {
          if (Array.isArray(node)) return node.forEach(visit);
          if (typeof node?.type !== 'string') return undefined;
          const file = isUrlOf(node) ? fileOf.get(resolve(dirname(id), node.arguments[0].value)) : undefined;
          if (file !== undefined) edits.push([node, `new URL('${file}', import.meta.url)`]);
          else if (isModuleUrl(node)) {
            const own = fileOf.get(id) ?? `../${relative(dist, id).split(sep).join('/')}`;
            edits.push([node, `new URL('${own}', import.meta.url).href`]);
          } else Object.values(node).forEach(visit);
          return undefined;
        };
        visit(this.parse(code));
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

const bundle = await rolldown({
  cwd: dist,
  input: Object.fromEntries(ENTRIES.map((module) => [nameOf(module), resolve(dist, module)])),
  platform: 'node',
  preserveEntrySignatures: 'allow-extension',
  external: (id) => !id.startsWith('.') && !id.startsWith(dist),
  plugins: [sourceMaps(), urls()],
});
rmSync(`${dist}/bundle`, { recursive: true, force: true });
await bundle.write({
  dir: `${dist}/bundle`,
  sourcemap: true,
  entryFileNames: '[name].js',
  chunkFileNames: '[name].js',
  codeSplitting: {
    groups: OWN_FILES.map((module) => ({ name: nameOf(module), test: (id) => id === resolve(dist, module) })),
    includeDependenciesRecursively: false,
  },
});
