// Estimates the size of a value. Exact for large content (buffers, typed arrays, strings), and cheap for the rest.
import { isPlainObject } from '../base/builtIns.js';

const SAMPLE_ABOVE = 1000;
const SAMPLES = 500;

/** Sampling of containers, and the number of values after which measuring gives up. */
interface Effort {
  /** Containers with more parts than this are sampled. */
  readonly sampleAbove: number;
  readonly samples: number;
  /** Entries of a Map or Set that are read; the first ones stand for all. */
  readonly entries: number;
  readonly values: number;
  /** Length from which the bytes of a string are its length, so that the string is not read. */
  readonly stringLimit: number;
}

/** Measures most values in less than 30 µs. */
const ROUGH: Effort = { sampleAbove: 16, samples: 16, entries: 16, values: 1000, stringLimit: 0 };

const NUMBER_BYTES = 8;
const BOOLEAN_BYTES = 4;
const DATE_BYTES = 8;

/**
 * Returns the bytes of payload in `value`, e.g. for `new CacheProfiler({ metric: nbytes })`.
 *
 * - Typed arrays, DataView, Buffer, ArrayBuffer, SharedArrayBuffer: their byteLength. Instances of other classes: their
 *   `nbytes` or `byteLength` if it is a number.
 * - Strings: one byte per character if all characters are Latin-1, else two, as in V8.
 * - Numbers and dates 8, booleans 4, bigints their 64-bit words; null, undefined, symbols and functions 0.
 * - Arrays, Map, Set and objects: the sum of their parts and of the names of properties, without V8's overhead. Each object
 *   counts once, so that cycles end. In a container of more than 1,000 parts, about 500 evenly spaced parts are measured and
 *   their sum is scaled up. Getters are not called.
 *
 * @source the role of `cachey.nbytes` in Dask's documentation, and the sampling of Dask's `sizeof`
 */
export function nbytes(value: unknown): number {
  return sizeOf(value, Number.POSITIVE_INFINITY);
}

/**
 * Returns `nbytes`, or some number above `limit` as soon as more than `limit` bytes are counted, so that the test whether a
 * result is small is cheap even for large results.
 */
export function sizeOf(value: unknown, limit: number): number {
  const [entries, values] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  const effort = { sampleAbove: SAMPLE_ABOVE, samples: SAMPLES, entries, values, stringLimit: limit };
  return measured(value, limit, effort);
}

/**
 * Returns an estimate of `nbytes` from about 16 parts of each container; NaN for a value that is too deep for it.
 */
export function roughBytes(value: unknown): number {
  return measured(value, Number.POSITIVE_INFINITY, ROUGH);
}

function measured(value: unknown, limit: number, effort: Effort): number {
  const { stringLimit, values } = effort;
  if (typeof value !== 'object' || value === null) return primitiveBytes(value, stringLimit);
  const all = wholeBytes(value);
  if (all !== undefined) return all;
  const seen = new Set<object>();
  // An explicit stack, because a long linked list would overflow the call stack. Weight is the number of values for
  // which a sample stands.
  const pending: { value: unknown; weight: number }[] = [{ value, weight: 1 }];
  let total = 0;
  let left = values;
  for (let next = pending.pop(); next !== undefined && total <= limit; next = pending.pop()) {
    if (left-- <= 0) return Number.NaN;
    const { value: current, weight } = next;
    if (typeof current !== 'object' || current === null) {
      total += weight * primitiveBytes(current, stringLimit);
      continue;
    }
    if (seen.has(current)) continue;
    seen.add(current);
    const whole = wholeBytes(current);
    if (whole !== undefined) {
      total += weight * whole;
      continue;
    }
    const push = (part: unknown, scale: number): void =>
      void pending.push({ value: part, weight: weight * scale });
    pushParts(current, push, effort);
  }
  // A sum above the limit must stay above it after rounding.
  return total > limit ? Math.ceil(total) : Math.round(total);
}

function primitiveBytes(value: unknown, limit: number): number {
  switch (typeof value) {
    case 'string':
      return value.length > limit ? value.length : stringBytes(value);
    case 'number':
      return NUMBER_BYTES;
    case 'boolean':
      return BOOLEAN_BYTES;
    case 'bigint':
      return NUMBER_BYTES * Math.max(1, Math.ceil(value.toString(16).length / 16));
    default:
      return 0;
  }
}

function stringBytes(text: string): number {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all of Latin-1, control characters included
  return /[^\u0000-\u00ff]/.test(text) ? text.length * 2 : text.length;
}

/** Returns the bytes of an object that is measured as a whole. */
function wholeBytes(value: object): number | undefined {
  if (ArrayBuffer.isView(value)) return value.byteLength;
  if (value instanceof Date) return DATE_BYTES;
  if (isPlainObject(value)) return undefined;
  if ('nbytes' in value && typeof value.nbytes === 'number') return value.nbytes;
  if ('byteLength' in value && typeof value.byteLength === 'number') return value.byteLength;
  return undefined;
}

type Push = (part: unknown, scale: number) => void;

function pushParts(value: object, push: Push, effort: Effort): void {
  if (Array.isArray(value)) {
    sampled(value.length, effort, (i, scale) => push(value[i], scale));
  } else if (value instanceof Map || value instanceof Set) {
    const read = Math.min(value.size, effort.entries);
    const every = stride(read, effort);
    const scale = value.size / Math.ceil(read / every);
    let position = 0;
    for (const [key, part] of value.entries()) {
      if (position >= read) break;
      if (position++ % every !== 0) continue;
      push(part, scale);
      if (value instanceof Map) push(key, scale);
    }
  } else {
    const names = Object.keys(value);
    sampled(names.length, effort, (i, scale) => {
      push(names[i], scale);
      push(Object.getOwnPropertyDescriptor(value, names[i]!)?.value, scale);
    });
  }
}

function stride(count: number, { sampleAbove, samples }: Effort): number {
  return count > sampleAbove ? Math.ceil(count / samples) : 1;
}

/** Visits all indices, or an evenly spaced sample. `scale` is the number of parts that each visited part represents. */
function sampled(count: number, effort: Effort, visit: (index: number, scale: number) => void): void {
  const every = stride(count, effort);
  const scale = count / Math.ceil(count / every);
  for (let i = 0; i < count; i += every) visit(i, scale);
}
