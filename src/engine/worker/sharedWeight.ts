// Makes the garbage collector see shared memory. V8 counts an ArrayBuffer's bytes towards the next collection, but a
// SharedArrayBuffer's as nothing, so a run that passes 3 GB of shared arrays along one after the other would hold all
// 3 GB. Each isolate hangs an ordinary ArrayBuffer of the same size on every shared one that it sees: it is counted, it
// dies with it, and as nobody ever touches its pages it costs address space, not memory.
//
// V8 may collect garbage at the moment it is told, for milliseconds, so it is told on the next turn of the event loop:
// a task begins before that. Only the last buffer waits: an isolate that stays in one turn tells V8 of all the others.

const WEIGHT: unique symbol = Symbol('longpole.weight');

/** Below this the isolates' ordinary garbage brings collections often enough. */
const MINIMUM_BYTES = 64 * 1024;
/** Values nested deeper than this, or longer lists, hold no arrays that shareBuffers has shared. */
export const MAX_DEPTH = 3;
export const MAX_PARTS = 64;

/** Counts the shared arrays in a value that has come from another isolate. */
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

/** The one buffer of which V8 has not been told. */
let untold: Weighed | undefined;

/** Counts one shared buffer, once. */
export function weigh(buffer: Weighed): void {
  if (buffer.byteLength < MINIMUM_BYTES || buffer[WEIGHT] !== undefined) return;
  if (untold === undefined) setImmediate(tell).unref();
  else tell();
  // Not undefined: it is counted already.
  buffer[WEIGHT] = null;
  untold = buffer;
}

function tell(): void {
  if (untold === undefined) return;
  const buffer = untold;
  untold = undefined;
  buffer[WEIGHT] = new ArrayBuffer(buffer.byteLength);
}
