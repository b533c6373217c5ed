// Bundles the program's modules and their imports for workers on other machines.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire, isBuiltin } from 'node:module';
import { dirname, isAbsolute, join, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { BuildFailure, BuildOptions, Loader, Plugin } from 'esbuild';
import { attempt, LongpoleError } from '../base/errors.js';
import { ownEntry, type WorkerFile } from './workerFiles.js';

export type NodeModules = 'bundle' | 'installed';

/** Folder `dist/` of this installation. */
const DIST = fileURLToPath(new URL('..', import.meta.url));
/** Packages that are not bundled: koffi and lz4-napi have binaries and are optional on a worker, the others only compile. */
const EXTERNAL = ['koffi', 'lz4-napi', 'tsx', 'esbuild'];
const URL_NAME = '__longpole_module_url';
/** Oldest Node of a worker. */
const TARGET = 'node20.19';

const MODULES = {
  bundle: true,
  write: false,
  format: 'esm',
  platform: 'node',
  target: TARGET,
  logLevel: 'silent',
  // CommonJS modules in a bundle require modules of Node.
  banner: {
    js: "import { createRequire as __longpole_require } from 'node:module'; const require = __longpole_require(import.meta.url);",
  },
  outfile: '/bundle.mjs',
  keepNames: true,
  external: EXTERNAL,
  sourcemap: 'inline',
  sourcesContent: false,
  sourceRoot: '/',
  define: { 'import.meta.url': URL_NAME },
} satisfies BuildOptions;

/**
 * Bundles the modules of these URLs in a file that exports `modules`, a Map from URLs to functions that import the
 * modules. The name of the file contains a hash of its content.
 *
 * @throws (rejects) LongpoleError ERR_LONGPOLE_BUNDLE
 */
export async function bundleModules(urls: readonly string[], nodeModules: NodeModules): Promise<WorkerFile> {
  const entries = urls.map(
    (url) => `[${JSON.stringify(url)}, () => import(${JSON.stringify(fileURLToPath(url))})]`,
  );
  const { outputFiles } = await built(() =>
    // Loaded when it is needed, because an installation may lack its binary.
    esbuildFor(import.meta.url).build({
      stdin: {
        contents: `export const modules = new Map([${entries.join(', ')}]);`,
        resolveDir: process.cwd(),
        loader: 'js',
      },
      ...MODULES,
      plugins: [workersLongpole(), ownUrls(), ...(nodeModules === 'installed' ? [installedPackages()] : [])],
    }),
  );
  const bytes = outputFiles[0]?.contents ?? new Uint8Array(0);
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 16);
  return { name: `program-${hash}.mjs`, bytes };
}

/** A module in one file, with its imports. */
export interface FunctionBundle {
  readonly text: string;
  /** Names of the exports. Empty if they are not known, as for a CommonJS module. */
  readonly exports: readonly string[];
}

/**
 * Bundles a module whose functions Python calls. Returns undefined if no esbuild is installed, neither with this package
 * nor for the module.
 *
 * @throws (rejects) LongpoleError ERR_LONGPOLE_BUNDLE
 */
export async function bundleFunctions(file: string): Promise<FunctionBundle | undefined> {
  const installedFor = (module: string) => attempt(() => esbuildFor(module), undefined);
  const esbuild = installedFor(import.meta.url) ?? installedFor(file);
  if (esbuild === undefined) return undefined;
  const { outputFiles, metafile } = await built(() =>
    esbuild.build({
      ...MODULES,
      // The modules of this package one by one, so that `unusedParts` can leave most of them out.
      conditions: ['longpole-modules'],
      entryPoints: [file],
      metafile: true,
      plugins: [ownUrls(), unusedParts()],
    }),
  );
  const [output] = Object.values(metafile.outputs);
  return { text: outputFiles[0]?.text ?? '', exports: output?.exports ?? [] };
}

/** Loads the esbuild that a module finds. An `import` would take 45 ms of CPU to find the names that its file exports. */
function esbuildFor(module: string): typeof import('esbuild') {
  return createRequire(module)('esbuild');
}

/** Module of Longpole that others import for its effect only. */
const EFFECT = /[\\/]delayedGraph\.js$/;

/** Lets esbuild leave out the parts of Longpole that the module does not use: 1.8 of 1.9 MB for tasks(). */
function unusedParts(): Plugin {
  const isResolved = Symbol('is resolved');
  /** Folder of the modules of Longpole, which need not be this installation. */
  let own: string | undefined;
  return {
    name: 'longpole-unused',
    setup: (build) => {
      build.onResolve({ filter: /^longpole(\/|$)/ }, async ({ path, pluginData, ...where }) => {
        if (pluginData === isResolved) return undefined;
        const found = await build.resolve(path, { ...where, pluginData: isResolved });
        if (found.path !== '') own ??= join(dirname(found.path), '..', sep);
        return { ...found, pluginData: undefined, sideEffects: false };
      });
      // Longpole's imports name files, so that esbuild need not resolve them: a third of the CPU time.
      build.onResolve({ filter: /^\.\.?\// }, ({ path, importer, resolveDir }) =>
        own !== undefined && importer.startsWith(own)
          ? { path: join(resolveDir, path), sideEffects: EFFECT.test(path) }
          : undefined,
      );
    },
  };
}

async function built<R>(build: () => Promise<R>): Promise<R> {
  try {
    return await build();
  } catch (error) {
    throw bundleError(error);
  }
}

/** Keeps the URL of every module, because tasks() identifies modules by URL. */
function ownUrls(): Plugin {
  return {
    name: 'longpole-urls',
    setup: (build) => {
      build.onLoad({ filter: /\.[cm]?[jt]sx?$/, namespace: 'file' }, async ({ path }) => {
        const text = await readFile(path, 'utf8');
        if (!text.includes('import.meta.url')) return undefined;
        const url = JSON.stringify(pathToFileURL(path).href);
        return {
          // Does not add a line, so that line numbers stay correct.
          contents: `const ${URL_NAME} = ${url}; ${text.replace(/^#!/, '//')}`,
          loader: loaderOf(path),
          resolveDir: dirname(path),
        };
      });
    },
  };
}

/** Lets the modules import the Longpole of the worker: its isolates have loaded most of it, and it needs no bundling. */
function workersLongpole(): Plugin {
  return {
    name: 'longpole-of-worker',
    setup: (build) => {
      build.onResolve({ filter: /^longpole(\/(local|diagnostics|trace|analysis))?$/ }, ({ path }) => ({
        path: `./${ownEntry(path)}`,
        external: true,
      }));
    },
  };
}

/** Leaves the program's packages out. Workers need not have Longpole and its packages. */
function installedPackages(): Plugin {
  return {
    name: 'longpole-installed',
    setup: (build) => {
      build.onResolve({ filter: /^[^./#]/ }, ({ path, importer }) =>
        /^longpole(\/|$)/.test(path) || importer.startsWith(DIST) || isBuiltin(path) || isAbsolute(path)
          ? undefined
          : { path, external: true },
      );
    },
  };
}

function loaderOf(path: string): Loader {
  const [, kind = 'js'] = /\.[cm]?([jt]sx?)$/.exec(path) ?? [];
  return kind === 'tsx' || kind === 'ts' || kind === 'jsx' ? kind : 'js';
}

function isBuildFailure(error: unknown): error is BuildFailure {
  return error instanceof Error && 'errors' in error && Array.isArray(error.errors);
}

function bundleError(error: unknown): LongpoleError {
  const first = isBuildFailure(error) ? error.errors[0] : undefined;
  const { file = '', line = 0 } = first?.location ?? {};
  const where = file === '' ? '' : ` (${file}:${line})`;
  const what = first?.text ?? String(error);
  const native = /\.node"?/.test(what)
    ? " Packages with binaries cannot be bundled. Install them on the workers and pass nodeModules: 'installed'."
    : '';
  return new LongpoleError(
    'ERR_LONGPOLE_BUNDLE',
    `The modules of the tasks could not be bundled for the workers: ${what}${where}.${native}`,
    { cause: error },
  );
}
