// Moves large typed arrays into shared memory when other isolates need them: one copy in the isolate that made them,
// none on the way. Below the threshold, a structured clone is cheaper than a new shared buffer.

import type { Bytes } from '../../protocol/packedResult.js';
import { MAX_DEPTH, MAX_PARTS, weigh } from './sharedWeight.js';

/** Arrays of at least this many bytes are shared. */
export const SHARE_BYTES = 64 * 1024;

/** Returns memory for received bytes: shared, unless copying is cheaper than a new shared buffer. */
export function emptyBuffer(nbytes: number): Bytes {
  if (nbytes < SHARE_BYTES) return new Uint8Array(nbytes);
  const bytes = new Uint8Array(new SharedArrayBuffer(nbytes));
  weigh(bytes.buffer);
  return bytes;
}

/**
 * Returns the value with its large typed arrays over shared memory; the same value if it has none. Never changes its
 * input.
 */
export function shareBuffers(value: unknown, depth = 0): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (ArrayBuffer.isView(value)) return shareView(value);
  if (depth === MAX_DEPTH) return value;
  if (Array.isArray(value)) {
    if (value.length > MAX_PARTS) return value;
    let changed = false;
    const copy = value.map((part) => {
      const shared = shareBuffers(part, depth + 1);
      changed ||= shared !== part;
      return shared;
    });
    return changed ? copy : value;
  }
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  const entries = Object.entries(value);
  if (entries.length > MAX_PARTS) return value;
  const copy = entries.map(([name, part]): [string, unknown] => [name, shareBuffers(part, depth + 1)]);
  return copy.some(([, part], index) => part !== entries[index]![1]) ? Object.fromEntries(copy) : value;
}

function shareView(view: ArrayBufferView): ArrayBufferView {
  if (view.byteLength < SHARE_BYTES || view.buffer instanceof SharedArrayBuffer) return view;
  const bytes = new Uint8Array(new SharedArrayBuffer(view.byteLength));
  weigh(bytes.buffer);
  bytes.set(new Uint8Array(view.buffer, view.byteOffset, view.byteLength));
  return sameKind(view, bytes.buffer);
}

/** The prototype of all typed arrays. Its tag is the name of an array's class, also for a subclass such as Buffer. */
const TYPED_ARRAY: object = Object.getPrototypeOf(Uint8Array.prototype);

function sameKind(view: ArrayBufferView, buffer: SharedArrayBuffer): ArrayBufferView {
  const name: string = Reflect.get(TYPED_ARRAY, Symbol.toStringTag, view) ?? 'DataView';
  const copy: unknown = Reflect.construct(Reflect.get(globalThis, name), [buffer]);
  return ArrayBuffer.isView(copy) ? copy : view;
}
