// Imports modules of the user's inside an isolate, each once, also those written in TypeScript.
import * as nodeModule from 'node:module';
import { getOrMake } from '../../base/lookUps.js';

const imports = new Map<string, Promise<unknown>>();

/** The module of a URL; rejects with what its import throws. */
export function importModule(url: string): Promise<unknown> {
  return getOrMake(imports, url, () => (/\.[cm]?tsx?($|\?)/.test(url) ? importTypeScript(url) : import(url)));
}

let typeScript: Promise<void> | undefined;

async function importTypeScript(url: string): Promise<unknown> {
  typeScript ??= registerTypeScript();
  await typeScript;
  return import(url);
}

async function registerTypeScript(): Promise<void> {
  const { register } = await import('tsx/esm/api');
  register();
  // The hook for lines comes later, so it is asked first, and gets what tsx has made.
  if ('registerHooks' in nodeModule && typeof nodeModule.registerHooks === 'function') {
    const { loadHere } = await import('./lineHooks.js');
    nodeModule.registerHooks({ load: loadHere });
  } else {
    nodeModule.register(new URL('./lineHooks.js', import.meta.url));
  }
}
