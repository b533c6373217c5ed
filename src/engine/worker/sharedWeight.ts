// Makes the garbage collector count shared memory. V8 counts the bytes of an ArrayBuffer towards the next collection,
// but ignores those of a SharedArrayBuffer. A run that passes on 3 GB of shared arrays, one after the other, would hold
// all 3 GB. Therefore each isolate attaches an ordinary ArrayBuffer of the same size to every shared one that it
// receives. V8 counts it and frees it with the shared one. Its pages are never touched, so it costs address space, not
// memory. It is resizable, because V8 maps the pages of such a buffer itself. Memory of malloc begins with a header that
// is written, and in a worker process the system makes a huge page of 2 MB of it after some minutes.
//
// Creating the ArrayBuffer may start a garbage collection of milliseconds. So it is created on the next turn of the
// event loop, after the task has started. Only the last buffer waits: in an isolate that stays in one turn, all others
// are counted.

const WEIGHT: unique symbol = Symbol('longpole.weight');

/** Below this size, the isolates' ordinary garbage triggers collections often enough. */
const MINIMUM_BYTES = 64 * 1024;
/** Depth and list length up to which values are searched for buffers. */
export const MAX_DEPTH = 3;
export const MAX_PARTS = 64;

/** Counts the shared arrays in a value from another isolate. */
export function weighShared(value: unknown, depth = 0): void {
  if (typeof value !== 'object' || value === null) return;
  if (ArrayBuffer.isView(value)) {
    if (value.buffer instanceof SharedArrayBuffer) weigh(value.buffer);
    return;
  }
  if (depth === MAX_DEPTH) return;
  if (Array.isArray(value)) {
    if (value.length <= MAX_PARTS) for (const part of value) weighShared(part, depth + 1);
  } else if (Object.getPrototypeOf(value) === Object.prototype) {
    const parts = Object.values(value);
    if (parts.length <= MAX_PARTS) for (const part of parts) weighShared(part, depth + 1);
  }
}

type Weighed = SharedArrayBuffer & { [WEIGHT]?: ArrayBuffer | null };

/** The one buffer that V8 does not count yet. */
let uncounted: Weighed | undefined;

/** Counts a shared buffer, once. */
export function weigh(buffer: Weighed): void {
  if (buffer.byteLength < MINIMUM_BYTES || buffer[WEIGHT] !== undefined) return;
  if (uncounted === undefined) setImmediate(count).unref();
  else count();
  // Null means that the buffer is counted already.
  buffer[WEIGHT] = null;
  uncounted = buffer;
}

function count(): void {
  if (uncounted === undefined) return;
  const buffer = uncounted;
  uncounted = undefined;
  const { byteLength } = buffer;
  buffer[WEIGHT] = new ArrayBuffer(byteLength, { maxByteLength: byteLength });
}
