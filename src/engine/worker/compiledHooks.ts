// Hooks of Node's module loader in an isolate, which load modules that the program has compiled.
import type { CompiledModule, CompiledModules } from '../../protocol/compiledModules.js';
import type { Loaded, Next, ResolveContext, Resolved } from './loaderHooks.js';

const modules = new Map<string, CompiledModule>();

/** Adds modules. A module that is known already may have been loaded, and stays. */
export function initialize(added: CompiledModules): void {
  for (const [url, module] of added) if (!modules.has(url)) modules.set(url, module);
}

export function resolve(
  specifier: string,
  context: ResolveContext,
  next: Next<Resolved, ResolveContext>,
): Resolved | Promise<Resolved> {
  const { parentURL = '' } = context;
  const url = modules.has(specifier) ? specifier : modules.get(parentURL)?.imports.get(specifier);
  if (url === undefined || !modules.has(url)) return next(url ?? specifier, context);
  return { url, ...SHORT };
}

export function load(url: string, context: unknown, next: Next<Loaded>): Loaded | Promise<Loaded> {
  const module = modules.get(url);
  return module === undefined ? next(url, context) : { source: module.source, ...SHORT };
}

const SHORT = { format: 'module', shortCircuit: true } as const;
