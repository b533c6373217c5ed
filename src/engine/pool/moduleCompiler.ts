// Compiles the modules of tasks once, in a program that runs under tsx, for its isolates. Registering tsx costs an isolate 0.2 s
// of CPU. The program's own loader resolves and compiles, so an isolate gets the modules that the program has.
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { getOrMake } from '../../base/lookUps.js';
import {
  COMPILED,
  type CompiledAnswer,
  type CompiledModule,
  type CompiledModules,
  RESOLVED,
  type RemoteCompiler,
} from '../../protocol/compiledModules.js';
import { registerHooks } from '../worker/loaderHooks.js';
import { SPECIFIER, TYPESCRIPT } from '../worker/nativeTypeScript.js';

const TSX = /^tsx($|\/)|[\\/]node_modules[\\/]tsx[\\/]dist[\\/]/;
/** Files of this package. */
const OWN = new URL('../../', import.meta.url).href;
/**
 * What needs the compiler when it runs: computed specifiers, functions that load modules, and specifiers with escapes, which the
 * compiler writes for letters outside ASCII.
 */
const NEEDS_COMPILER = new RegExp(
  [
    String.raw`\bimport\s*\((?!\s*(?:"[^"\\\n]*"|'[^'\\\n]*')\s*[,)])`,
    String.raw`\bimport\.meta\.resolve\b`,
    String.raw`\bcreateRequire\b`,
    String.raw`\b(?:from|import)\s*(?:"[^"\n]*\\|'[^'\n]*\\)`,
  ].join('|'),
);

/**
 * Returns the compiler for one new isolate. Undefined if the program has other options of Node than those of tsx: they may need
 * the compiler in the isolate.
 *
 * @param lines whether profiles of the isolate need the lines inside functions, see relined.ts
 */
export function openCompiler(lines: boolean): (RemoteCompiler & { readonly port: MessagePort }) | undefined {
  const execArgv = [...process.execArgv];
  if (!isOnlyTsx(execArgv)) return undefined;
  const { port1, port2 } = new MessageChannel();
  port1.on('message', (url: string) => void answer(port1, url, lines));
  port1.unref();
  return { port: port2, execArgv };
}

function isOnlyTsx(execArgv: readonly string[]): boolean {
  const words = execArgv.flatMap((word) => word.split('='));
  return (
    words.length > 0 &&
    words.every((word, index) => (index % 2 === 0 ? /^(--import|--require|-r)$/.test(word) : TSX.test(word)))
  );
}

const graphs = new Map<string, Promise<CompiledModules | undefined>>();

async function answer(port: MessagePort, url: string, lines: boolean): Promise<void> {
  const modules = await getOrMake(graphs, `${lines} ${url}`, () =>
    // What the program cannot load here fails again in the isolate, with its own error.
    graphOf(url, lines).catch(() => undefined),
  );
  const message: CompiledAnswer = { url, modules };
  port.postMessage(message);
}

/** Returns the compiled modules that a module needs. Undefined if the isolate needs the compiler. */
async function graphOf(root: string, lines: boolean): Promise<CompiledModules | undefined> {
  const { relined } = lines ? await import('../worker/relined.js') : { relined: undefined };
  const graph = new Map<string, CompiledModule>();
  const reached = new Set([root]);
  for (const url of reached) {
    if (!isOfProgram(url)) {
      if (TYPESCRIPT.test(url)) return undefined;
      continue;
    }
    const module = await compiledModule(url);
    if (module === undefined) return undefined;
    for (const next of module.imports.values()) reached.add(next);
    graph.set(url, relined === undefined ? module : { ...module, source: relined(module.source) });
  }
  return graph;
}

function isOfProgram(url: string): boolean {
  return url.startsWith('file:') && !url.includes('/node_modules/') && !url.startsWith(OWN);
}

let hooks: Promise<void> | undefined;

async function compiledModule(url: string): Promise<CompiledModule | undefined> {
  hooks ??= registerHooks(new URL('./programHooks.js', import.meta.url));
  await hooks;
  const { default: loaded }: { default: readonly [string, string | null] } = await import(COMPILED + url);
  const [format, source] = loaded;
  if (format !== 'module' || source === null || NEEDS_COMPILER.test(source)) return undefined;
  return { source, imports: await importsOf(source, url) };
}

/** Also finds specifiers in comments and in strings. What cannot be resolved is left to the isolate. */
async function importsOf(source: string, url: string): Promise<Map<string, string>> {
  const imports = new Map<string, string>();
  for (const [, one, other] of source.matchAll(SPECIFIER)) {
    const specifier = one ?? other ?? '';
    try {
      // A worker process starts as CommonJS, where this is a promise, see scripts/bundle.mjs.
      imports.set(specifier, await import.meta.resolve(RESOLVED + JSON.stringify([specifier, url])));
    } catch {
      // The isolate reports the error if it imports the module.
    }
  }
  return imports;
}
