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

function sameKind(view: ArrayBufferView, buffer: SharedArrayBuffer): ArrayBufferView {
  if (view instanceof Float64Array) return new Float64Array(buffer);
  if (view instanceof Float32Array) return new Float32Array(buffer);
  if (view instanceof Int32Array) return new Int32Array(buffer);
  if (view instanceof Uint32Array) return new Uint32Array(buffer);
  if (view instanceof Int16Array) return new Int16Array(buffer);
  if (view instanceof Uint16Array) return new Uint16Array(buffer);
  if (view instanceof Int8Array) return new Int8Array(buffer);
  if (view instanceof Uint8ClampedArray) return new Uint8ClampedArray(buffer);
  if (view instanceof BigInt64Array) return new BigInt64Array(buffer);
  if (view instanceof BigUint64Array) return new BigUint64Array(buffer);
  if (view instanceof DataView) return new DataView(buffer);
  return new Uint8Array(buffer);
}
