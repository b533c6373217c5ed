// Hooks of Node's module loader in a program, in front of those of a compiler such as tsx. moduleCompiler.ts imports URLs with
// these schemes, and so receives what the program's loader makes of a module, without running the module.
import { COMPILED, RESOLVED } from '../../protocol/compiledModules.js';
import {
  after,
  type Loaded,
  type Next,
  type ResolveContext,
  type Resolved,
  textOf,
} from '../worker/loaderHooks.js';

export function resolve(
  specifier: string,
  context: ResolveContext,
  next: Next<Resolved, ResolveContext>,
): Resolved | Promise<Resolved> {
  if (specifier.startsWith(COMPILED))
    return after(next(specifier.slice(COMPILED.length), context), (resolved) => ({
      ...resolved,
      url: COMPILED + resolved.url,
      shortCircuit: true,
    }));
  if (!specifier.startsWith(RESOLVED)) return next(specifier, context);
  const [wanted, parentURL]: [string, string] = JSON.parse(specifier.slice(RESOLVED.length));
  return next(wanted, { ...context, parentURL });
}

export function load(url: string, context: unknown, next: Next<Loaded>): Loaded | Promise<Loaded> {
  if (!url.startsWith(COMPILED)) return next(url, context);
  return after(next(url.slice(COMPILED.length), context), (loaded) => ({
    format: 'module',
    source: `export default ${JSON.stringify([loaded.format, textOf(loaded)])};`,
    shortCircuit: true,
  }));
}
