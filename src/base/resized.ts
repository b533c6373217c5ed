// Typed arrays from other typed arrays: copies with another length, which are truncated if they are shorter, and joined
// arrays.

export function resizedInt32(column: Int32Array, capacity: number): Int32Array<ArrayBuffer> {
  const resized = new Int32Array(capacity);
  resized.set(column.length > capacity ? column.subarray(0, capacity) : column);
  return resized;
}

export function resizedUint8(column: Uint8Array, capacity: number): Uint8Array<ArrayBuffer> {
  const resized = new Uint8Array(capacity);
  resized.set(column.length > capacity ? column.subarray(0, capacity) : column);
  return resized;
}

export function resizedFloat64(column: Float64Array, capacity: number): Float64Array<ArrayBuffer> {
  const resized = new Float64Array(capacity);
  resized.set(column.length > capacity ? column.subarray(0, capacity) : column);
  return resized;
}

/** Returns the bytes of all parts, one after the other. */
export function joinedBytes(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  filledWith<Uint8Array>(all, parts);
  return all;
}

/** Copies parts into an array, one after the other, and returns the array. */
export function filledWith<A extends { set(values: A, at: number): void; readonly length: number }>(
  all: A,
  parts: Iterable<A>,
): A {
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
