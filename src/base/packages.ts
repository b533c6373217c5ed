// Packages that few programs need: loaded when they are first used, by synchronous code, too. A worker's isolate that imports a
// module of tasks would pay for them before its first task, some 150 ms.
import type * as acorn from 'acorn';
import type * as eslintScope from 'eslint-scope';
import type * as koffi from 'koffi';
import type * as lz4 from 'lz4-napi';
import type * as yaml from 'yaml';

interface Packages {
  readonly acorn: typeof acorn;
  readonly 'eslint-scope': typeof eslintScope;
  readonly koffi: typeof koffi;
  readonly 'lz4-napi': typeof lz4;
  readonly yaml: typeof yaml;
}

declare global {
  interface ImportMeta {
    url: string;
  }
}

/** What this needs of Node. Folders that import nothing of Node may import this; in a browser only the call fails. */
declare const process: {
  getBuiltinModule(name: 'node:module'): {
    createRequire(url: string): <N extends keyof Packages>(name: N) => Packages[N];
  };
};

let require: (<N extends keyof Packages>(name: N) => Packages[N]) | undefined;

/** The package, loaded by the first call: its CommonJS build, which an import elsewhere would load again. Throws as `require`. */
export function loadPackage<N extends keyof Packages>(name: N): Packages[N] {
  require ??= process.getBuiltinModule('node:module').createRequire(import.meta.url);
  return require(name);
}
