// Libraries of the system, called without a compiler. Where koffi has no binary for the platform there are none.
import type * as koffi from 'koffi';
import { loadPackage } from '../base/packages.js';
import { enterNative, leaveNative } from './nativeGuard.js';

export type Koffi = typeof koffi;
export type NativeLibrary = koffi.LibraryHandle;

function loadKoffi(): Koffi | undefined {
  try {
    return loadPackage('koffi');
  } catch {
    return undefined;
  }
}

/**
 * Hands the first of these libraries that there is to `use`, and returns what it returns; null stands for what this process
 * has loaded already, its C library. Undefined: there is none, or it lacks what `use` looks for.
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
    try {
      return loader.load(name);
    } catch {
      // Not this one.
    }
  }
  return undefined;
}
