// Calls libraries of the system without a compiler. On platforms without a binary of koffi there are none.
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type * as koffi from 'koffi';
import { attempt } from '../base/errors.js';
import { loadPackage } from '../base/packages.js';
import { enterNative, leaveNative } from './nativeGuard.js';

type Koffi = typeof koffi;
export type NativeLibrary = koffi.LibraryHandle;

const require = createRequire(import.meta.url);

let loadedKoffi: Koffi | undefined;

function loadKoffi(): Koffi | undefined {
  loadedKoffi ??= attempt(() => koffiBinary() ?? loadPackage('koffi'), undefined);
  return loadedKoffi;
}

/**
 * Returns the addon of koffi, without koffi's JavaScript, which finds this file and adds deprecated functions. An isolate
 * needs 2 ms of CPU for the addon, and 8 for both. Undefined if the file is elsewhere or is for another C library.
 */
function koffiBinary(): Koffi | undefined {
  const { platform, arch } = process;
  return attempt(() => {
    const folder = dirname(require.resolve(`@koromix/koffi-${platform}-${arch}`));
    const addon = { exports: {} };
    process.dlopen(addon, join(folder, `${platform}_${arch}`, 'koffi.node'));
    return isKoffi(addon.exports) ? addon.exports : undefined;
  }, undefined);
}

function isKoffi(addon: unknown): addon is Koffi {
  return typeof addon === 'object' && addon !== null && 'load' in addon && typeof addon.load === 'function';
}

/**
 * Passes the first of these libraries that exists to `use`, and returns its result. Null stands for the libraries
 * that this process has already loaded, such as its C library. Returns undefined if there is none, or if it lacks a
 * function that `use` needs.
 */
export function openLibrary<T>(
  names: readonly (string | null)[],
  use: (library: NativeLibrary) => T,
): T | undefined {
  if (!enterNative()) return undefined;
  try {
    const loader = loadKoffi();
    const library = loader && firstOf(loader, names);
    return library && use(library);
  } catch {
    return undefined;
  } finally {
    leaveNative();
  }
}

function firstOf(loader: Koffi, names: readonly (string | null)[]): NativeLibrary | undefined {
  for (const name of names) {
    const library = attempt(() => loader.load(name), undefined);
    if (library !== undefined) return library;
  }
  return undefined;
}
