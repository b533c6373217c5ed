// Copies of typed arrays with another length; what does not fit is left out.

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
