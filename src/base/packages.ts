// Loads packages that few programs need on their first use, also from synchronous code. Otherwise an isolate that
// imports a module of tasks would spend some 150 ms on them before its first task.
import type * as acorn from 'acorn';
import type * as eslintScope from 'eslint-scope';
import type * as fflate from 'fflate';
import type * as koffi from 'koffi';
import type * as lz4 from 'lz4-napi';
import type * as yaml from 'yaml';
import { adviceFor, isError, LongpoleError, sentenceOf } from './errors.js';

interface Packages {
  readonly acorn: typeof acorn;
  readonly 'eslint-scope': typeof eslintScope;
  readonly fflate: typeof fflate;
  readonly koffi: typeof koffi;
  readonly 'lz4-napi': typeof lz4;
  readonly yaml: typeof yaml;
}

declare global {
  interface ImportMeta {
    url: string;
  }
}

type Require = { <N extends keyof Packages>(name: N): Packages[N]; resolve(name: keyof Packages): string };

/**
 * The part of Node's `process` that this file needs. Folders without Node's types may import this file; in a browser
 * only the call fails.
 */
declare const process: {
  readonly execPath: string;
  getBuiltinModule(name: 'node:module'): { createRequire(url: string): Require };
  getBuiltinModule(name: 'node:fs'): { openSync(path: string): number; closeSync(file: number): void };
};

let ownRequire: Require | undefined;

/**
 * Returns the CommonJS build of a package. The first call loads it. An `import` of the same package would load its other
 * build as well.
 *
 * @throws LongpoleError ERR_LONGPOLE_INSTALLATION if the package is missing or no file can be opened, or the error of the
 *   package
 */
export function loadPackage<N extends keyof Packages>(name: N): Packages[N] {
  return found(name, (require) => require(name));
}

/**
 * Checks that a package is installed, without loading it.
 *
 * @throws LongpoleError ERR_LONGPOLE_INSTALLATION if the package is missing
 */
export function checkPackage(name: keyof Packages): void {
  found(name, (require) => require.resolve(name));
}

function found<T>(name: string, use: (require: Require) => T): T {
  ownRequire ??= process.getBuiltinModule('node:module').createRequire(import.meta.url);
  try {
    return use(ownRequire);
  } catch (cause) {
    if (!isError(cause) || !('code' in cause) || cause.code !== 'MODULE_NOT_FOUND') throw cause;
    checkFileLimit(name);
    throw new LongpoleError(
      'ERR_LONGPOLE_INSTALLATION',
      `The package '${name}' cannot be found from ${import.meta.url}. If the program was bundled, exclude Longpole from the ` +
        'bundle, e.g. with esbuild --external:longpole. Otherwise install longpole again.',
      { cause },
    );
  }
}

/** Node reports a package as missing if it cannot open the package's files. */
function checkFileLimit(name: string): void {
  const { openSync, closeSync } = process.getBuiltinModule('node:fs');
  try {
    closeSync(openSync(process.execPath));
  } catch (cause) {
    const message = `The package '${name}' cannot be loaded: ${sentenceOf(cause)} ${adviceFor(cause, 'Correct this.')}`;
    throw new LongpoleError('ERR_LONGPOLE_INSTALLATION', message, { cause });
  }
}
