// Converts a task's result to the form that other isolates receive. A structured clone turns a class instance into a
// plain object and a Buffer into a Uint8Array. Without this conversion, a dependent would see one or the other
// depending on its isolate.

import { checkCopyable } from '../../graph/lossyCopies.js';
import { BUILT_IN_ERRORS } from '../../protocol/errorInfo.js';

/** Parts of a result that are searched. A search through every result would cost more than its copy. */
const MOST_PARTS = 1000;
/** Classes of views of buffers. Float16Array exists in Node 24 and later. */
export const VIEW_CLASSES = [
  'DataView',
  'Int8Array',
  'Uint8Array',
  'Uint8ClampedArray',
  'Int16Array',
  'Uint16Array',
  'Int32Array',
  'Uint32Array',
  'Float32Array',
  'Float64Array',
  'BigInt64Array',
  'BigUint64Array',
  'Float16Array',
];

const KEPT_CLASSES = [Object, Array, Map, Set, Date, RegExp, Error, ArrayBuffer, SharedArrayBuffer];
const KEPT_PROTOTYPES: ReadonlySet<unknown> = new Set<unknown>([
  null,
  ...[...KEPT_CLASSES, ...BUILT_IN_ERRORS.values()].map(({ prototype }): object => prototype),
  ...VIEW_CLASSES.map((name): unknown => Reflect.get(globalThis, name)?.prototype),
]);

/**
 * Returns the result as other isolates receive it; the same value unless it is a class instance.
 *
 * @throws DOMException DataCloneError if it cannot be copied; LongpoleError ERR_LONGPOLE_NOT_CLONEABLE if its copy
 * would differ
 */
export function ownResult(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (KEPT_PROTOTYPES.has(Object.getPrototypeOf(value))) {
    checkParts(value);
    return value;
  }
  // A small Buffer is a window on memory that it shares with others, so only the window is copied.
  if (Buffer.isBuffer(value)) return Uint8Array.from(value);
  checkCopyable(value);
  checkParts(value);
  return structuredClone(value);
}

/** Checks the first parts of a value, in the order of their depth. */
function checkParts(value: object): void {
  const values = [value];
  let left = MOST_PARTS;
  for (let next = 0; next < values.length && left > 0; next++) {
    const each = values[next]!;
    if (ArrayBuffer.isView(each)) continue;
    if (each instanceof Map) {
      const checked = checkFirst(each.values(), left, values);
      // Keys are mostly scalars.
      left -= checked + checkFirst(each.keys(), left, values);
    } else if (Array.isArray(each) || each instanceof Set) left -= checkFirst(each, left, values);
    else left -= checkFirst(Object.values(each), Number.POSITIVE_INFINITY, values);
  }
}

/** Checks up to `count` parts, and adds the objects among them to `values`. Returns the number of checked parts. */
function checkFirst(parts: Iterable<unknown>, count: number, values: object[]): number {
  let checked = 0;
  for (const part of parts) {
    if (checked >= count) break;
    checked++;
    if (typeof part !== 'object' || part === null) continue;
    if (!KEPT_PROTOTYPES.has(Object.getPrototypeOf(part))) checkCopyable(part);
    values.push(part);
  }
  return checked;
}
