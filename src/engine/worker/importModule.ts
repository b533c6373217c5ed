// Imports a user's modules inside an isolate, each once, also modules in TypeScript.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { internalError, isError } from '../../base/errors.js';
import { getOrMake } from '../../base/lookUps.js';
import type { CompiledModules, RemoteCompiler } from '../../protocol/compiledModules.js';
import { BUNDLE_FOLDER_VARIABLE } from '../../protocol/remoteProcess.js';
import { registerHooks } from './loaderHooks.js';
import { loadLone } from './loneModule.js';
import { nodeRuns, TYPESCRIPT } from './nativeTypeScript.js';
import { asModuleCode } from './taskContext.js';

const imports = new Map<string, Promise<unknown>>();

/** Returns the module of a URL, from a bundle if the worker runs on another machine. Rejects with the exception of its import. */
export function importModule(url: string, bundle?: string): Promise<unknown> {
  return getOrMake(imports, url, () => asModuleCode(() => importOnce(url, bundle)));
}

function importOnce(url: string, bundle: string | undefined): Promise<unknown> {
  if (bundle !== undefined) return importBundled(url, bundle);
  if (compile !== undefined && url.startsWith('file:')) return importCompiled(url, compile);
  return TYPESCRIPT.test(url) ? importTypeScript(url) : import(url);
}

/** A bundle exports `modules`: URL → what imports the module. */
async function importBundled(url: string, bundle: string): Promise<unknown> {
  // Stacks name the files of the program, not the bundle.
  process.setSourceMapsEnabled(true);
  const file = join(process.env[BUNDLE_FOLDER_VARIABLE] ?? '', bundle);
  const { modules }: { modules: ReadonlyMap<string, () => Promise<unknown>> } = await import(
    pathToFileURL(file).href
  );
  const load = modules.get(url);
  if (load === undefined) throw internalError(`The bundle ${bundle} lacks the module ${url}.`);
  return load();
}

let typeScript: Promise<void> | undefined;

/**
 * Imports a module in TypeScript as the program does: by Node, or by tsx. Registering tsx takes an isolate 0.2 s of CPU, so a
 * program that runs without tsx needs it only for modules that Node cannot run, e.g. with enums.
 */
async function importTypeScript(url: string): Promise<unknown> {
  if (typeScript === undefined && nodeRuns(url)) {
    try {
      return await import(url);
    } catch (error) {
      if (!isOfNode(error)) throw error;
    }
  }
  await withTypeScript();
  return import(url);
}

/** Resolves when tsx is registered. */
function withTypeScript(): Promise<void> {
  typeScript ??= registerTypeScript();
  return typeScript;
}

/** Whether Node could not load a module, or its code failed with an error of Node. */
function isOfNode(error: unknown): boolean {
  return (
    error instanceof SyntaxError || (isError(error) && 'code' in error && /^ERR_/.test(String(error.code)))
  );
}

async function registerTypeScript(): Promise<void> {
  const [commonJs, { register }] = await Promise.all([import('tsx/cjs/api'), import('tsx/esm/api')]);
  // tsx loads modules of packages that are not of type "module" as CommonJS.
  commonJs.register();
  register();
  // The hook for lines is registered last, so it is called first, and receives the output of tsx.
  await registerHooks(new URL('./lineHooks.js', import.meta.url));
}

let compile: ((url: string) => Promise<CompiledModules | undefined>) | undefined;

/** Imports modules of the program as its compiler loads them, see engine/pool/moduleCompiler.ts. */
export function useCompiler({ port, execArgv }: RemoteCompiler): void {
  // Processes that tasks start with `fork` load the compiler through these options.
  process.execArgv.push(...execArgv);
  const requests = new Map<string, (modules: CompiledModules | undefined) => void>();
  port.on('message', ({ url, modules }) => requests.get(url)?.(modules));
  compile = (url) =>
    new Promise((resolve) => {
      requests.set(url, resolve);
      port.postMessage(url);
    });
}

async function importCompiled(url: string, ask: NonNullable<typeof compile>): Promise<unknown> {
  const modules = await ask(url);
  if (modules === undefined) await withTypeScript();
  else if (modules.size > 0) {
    // Stacks name the lines of the program.
    process.setSourceMapsEnabled(true);
    if (!isLoadedAlone(url, modules)) {
      hasHooks = true;
      await registerHooks(new URL('./compiledHooks.js', import.meta.url), modules);
    }
  }
  return import(url);
}

let hasHooks = false;

/** Whether a module that imports no other compiled one could be loaded without hooks. */
function isLoadedAlone(url: string, modules: CompiledModules): boolean {
  const module = modules.get(url);
  const isLone = modules.size === 1 && !hasHooks && typeScript === undefined;
  return isLone && module !== undefined && loadLone(url, module);
}

/** Returns a promise if the text of a function imports modules, and the program's compiler must be loaded for them. */
export function compilerFor(expression: string): Promise<void> | undefined {
  return compile !== undefined && /\bimport\s*\(/.test(expression) ? withTypeScript() : undefined;
}
