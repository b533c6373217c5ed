// Functions that every isolate has, by their path from the global object, so that `Math.max` is shipped by its name.
import { type AnyFunction, isFunction } from './callable.js';

/** Globals that can be called as they are (a Map or a Promise cannot: they need `new`). */
const CALLABLE = `
  isFinite isNaN parseFloat parseInt decodeURI decodeURIComponent encodeURI encodeURIComponent escape unescape
  Object Boolean Symbol Number BigInt Date String RegExp Array
  Error AggregateError EvalError RangeError ReferenceError SyntaxError TypeError URIError
  queueMicrotask structuredClone fetch atob btoa
`;

/** Globals whose own functions are looked at: `Math.max`, `Object.keys`. */
const NAMESPACES = `
  Math JSON Reflect Atomics Intl Object Number BigInt Date String Array Symbol Promise ArrayBuffer
  Int8Array Uint8Array Uint8ClampedArray Int16Array Uint16Array Int32Array Uint32Array
  BigInt64Array BigUint64Array Float32Array Float64Array
  WebAssembly Buffer console process performance
`;

const words = (list: string): string[] => list.split(/\s+/).filter((name) => name !== '');

let paths: ReadonlyMap<AnyFunction, string> | undefined;

/** The path of a global function, e.g. `JSON.stringify`. Undefined: it is none, or none that can be called as it is. */
export function globalPath(fn: AnyFunction): string | undefined {
  paths ??= collectPaths();
  return paths.get(fn);
}

/** The first path wins: `parseFloat` and not `Number.parseFloat`, which is the same function. */
function collectPaths(): ReadonlyMap<AnyFunction, string> {
  const found = new Map<AnyFunction, string>();
  const add = (value: unknown, path: string): void => {
    if (isFunction(value) && !found.has(value)) found.set(value, path);
  };
  for (const name of words(CALLABLE)) add(Reflect.get(globalThis, name), name);
  for (const name of words(NAMESPACES)) {
    const namespace: unknown = Reflect.get(globalThis, name);
    if (namespace === null || (typeof namespace !== 'object' && typeof namespace !== 'function')) continue;
    for (const [member, property] of Object.entries(Object.getOwnPropertyDescriptors(namespace)))
      if (member !== 'prototype' && member !== 'constructor') add(property.value, `${name}.${member}`);
  }
  return found;
}
