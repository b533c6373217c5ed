// Moves large typed arrays into shared memory when other isolates need them: one copy in the isolate that made them,
// none on the way. Below the threshold, a structured clone is cheaper than a new shared buffer.

import type { Bytes } from '../../protocol/packedResult.js';
import { weigh } from './sharedWeight.js';

/** Arrays of at least this many bytes are shared. */
export const SHARE_BYTES = 64 * 1024;

/** Returns memory for received bytes: shared, unless copying is cheaper than a new shared buffer. */
export function emptyBuffer(nbytes: number): Bytes {
  return nbytes < SHARE_BYTES ? new Uint8Array(nbytes) : sharedBuffer(nbytes);
}

function sharedBuffer(nbytes: number): Uint8Array<SharedArrayBuffer> {
  const bytes = new Uint8Array(new SharedArrayBuffer(nbytes));
  weigh(bytes.buffer);
  return bytes;
}

export function sharedCopy(bytes: Bytes): Uint8Array<SharedArrayBuffer> {
  const copy = sharedBuffer(bytes.byteLength);
  copy.set(bytes);
  return copy;
}

/** Returns the view over shared memory; the same view if it is small or shared already. */
export function shareView(view: ArrayBufferView): ArrayBufferView {
  if (view.byteLength < SHARE_BYTES || view.buffer instanceof SharedArrayBuffer) return view;
  const { buffer } = sharedCopy(new Uint8Array(view.buffer, view.byteOffset, view.byteLength));
  const copy: unknown = Reflect.construct(Reflect.get(globalThis, viewClass(view)), [buffer]);
  return ArrayBuffer.isView(copy) ? copy : view;
}

const TYPED_ARRAY: object = Object.getPrototypeOf(Uint8Array.prototype);

/** Returns the name of the built-in class of a view, also of one of a subclass such as Buffer. */
export function viewClass(view: ArrayBufferView): string {
  return Reflect.get(TYPED_ARRAY, Symbol.toStringTag, view) ?? 'DataView';
}
