// A hook of Node's module loader behind tsx, which restores the lines of compiled modules, see relined.ts.
import { after, type Loaded, type Next, textOf } from './loaderHooks.js';
import { TYPESCRIPT } from './nativeTypeScript.js';
import { relined } from './relined.js';

export function load(url: string, context: unknown, next: Next<Loaded>): Loaded | Promise<Loaded> {
  return after(next(url, context), (loaded) => {
    const text = loaded.format === 'module' && TYPESCRIPT.test(url) ? textOf(loaded) : undefined;
    return text === undefined ? loaded : { ...loaded, source: relined(text) };
  });
}
