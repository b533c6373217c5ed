// A hook of Node's module loader behind tsx, which restores the lines of compiled modules, see relined.ts. Like tsx,
// it prefers `module.registerHooks` if Node has it.
import { relined } from './relined.js';

interface Loaded {
  readonly format: string;
  readonly source?: string | ArrayBuffer | NodeJS.TypedArray | undefined;
}

const TYPESCRIPT = /\.[cm]?tsx?($|\?)/;

/** Hook for `module.register`, on the loader thread of older versions of Node. */
export async function load(
  url: string,
  context: unknown,
  nextLoad: (url: string, context: unknown) => Promise<Loaded>,
): Promise<Loaded> {
  return withLines(url, await nextLoad(url, context));
}

/** Hook for `module.registerHooks`, on the importing thread. */
export function loadHere(
  url: string,
  context: unknown,
  nextLoad: (url: string, context: unknown) => Loaded,
): Loaded {
  return withLines(url, nextLoad(url, context));
}

function withLines(url: string, loaded: Loaded): Loaded {
  const { source, format } = loaded;
  if (source === undefined || source === null || format !== 'module' || !TYPESCRIPT.test(url)) return loaded;
  const text = typeof source === 'string' ? source : new TextDecoder().decode(source);
  return { ...loaded, source: relined(text) };
}
