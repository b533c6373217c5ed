// Sizes of the values that a message to another thread or process copies.
import { sizeOf } from '../graph/sizeOf.js';

/** Returns whether threads share the value instead of copying it. */
export function isShared(value: unknown): boolean {
  if (value instanceof SharedArrayBuffer) return true;
  return ArrayBuffer.isView(value) && value.buffer instanceof SharedArrayBuffer;
}

/** Returns the bytes of the values that threads do not share. A value that occurs several times counts once. */
export function copiedBytes(values: Iterable<unknown>): number {
  let nbytes = 0;
  for (const value of new Set(values))
    if (!isShared(value)) nbytes += sizeOf(value, Number.POSITIVE_INFINITY);
  return nbytes;
}
