// A hook of Node's module loader behind tsx: what tsx has compiled gets its lines back, see relined.ts. tsx prefers
// `module.registerHooks` where Node has it, and so does this.
import { relined } from './relined.js';

interface Loaded {
  readonly format: string;
  readonly source?: string | ArrayBuffer | NodeJS.TypedArray | undefined;
}

const TYPESCRIPT = /\.[cm]?tsx?($|\?)/;

/** For `module.register`, on the thread that older versions of Node have for hooks. */
export async function load(
  url: string,
  context: unknown,
  nextLoad: (url: string, context: unknown) => Promise<Loaded>,
): Promise<Loaded> {
  return withLines(url, await nextLoad(url, context));
}

/** For `module.registerHooks`, on the thread that loads. */
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
