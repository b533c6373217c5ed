// Creates values from a seed. The values have every kind that structured clone copies. Also returns a text for each
// value, so that two values can be compared.
import { createHash } from 'node:crypto';
import { Random } from './random.js';

type Make = (random: Random, depth: number) => unknown;

const NUMBERS = [0, -0, 1, -1, 0.1, Number.NaN, Infinity, -Infinity, 2 ** 31, -(2 ** 31), 2 ** 53, 5e-324];
const STRINGS = ['', 'a', 'ä€𝄞', '\ud800', '\0', '__proto__', "('x', 0)", '-0', '\u202e\x1b[2J'];
const ERRORS = [Error, RangeError, TypeError, SyntaxError, ReferenceError, EvalError, URIError];

interface ViewConstructor {
  readonly BYTES_PER_ELEMENT: number;
  new (buffer: ArrayBufferLike, offset?: number, length?: number): ArrayBufferView;
}

const VIEWS: readonly ViewConstructor[] = [
  Int8Array,
  Uint8Array,
  Uint8ClampedArray,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  Float32Array,
  Float64Array,
  BigInt64Array,
  BigUint64Array,
];
/** Sizes of memories, below and above the size from which threads share typed arrays. */
const BYTES = [0, 8, 64, 4096, 65_536, 400_000];
const MAX_DEPTH = 3;

function bytes(random: Random, buffer: ArrayBuffer | SharedArrayBuffer): void {
  const words = new Uint32Array(buffer);
  // Half of the buffers compress well.
  const word = random.chance(0.5) ? random.word() : undefined;
  for (let index = 0; index < words.length; index++) words[index] = word ?? random.word();
}

function memory(random: Random, Kind: ArrayBufferConstructor | SharedArrayBufferConstructor) {
  const buffer = new Kind(random.pick(BYTES));
  bytes(random, buffer);
  return buffer;
}

function view(random: Random, buffer: ArrayBuffer | SharedArrayBuffer): ArrayBufferView {
  const View = random.pick(VIEWS);
  if (random.chance(0.7)) return new View(buffer);
  // A view of a part must keep only its own bytes.
  const quarter = Math.floor(buffer.byteLength / View.BYTES_PER_ELEMENT / 4);
  return new View(buffer, quarter * View.BYTES_PER_ELEMENT, quarter);
}

function list(random: Random, depth: number): unknown[] {
  return Array.from({ length: random.below(6) }, () => anyValue(random, depth + 1));
}

function object(random: Random, depth: number): Record<string, unknown> {
  return Object.fromEntries(
    list(random, depth).map((value, index) => [`${random.pick(STRINGS)}${index}`, value]),
  );
}

function failure(random: Random, depth: number): Error {
  const Kind = random.pick(ERRORS);
  const message = random.pick(STRINGS);
  return random.chance(0.3) ? new Kind(message, { cause: failure(random, depth + 1) }) : new Kind(message);
}

function holes(random: Random): unknown[] {
  const sparse = new Array<unknown>(1 + random.below(10));
  sparse[random.below(sparse.length)] = random.pick(NUMBERS);
  return sparse;
}

function ring(random: Random): unknown {
  const first: { next?: unknown; n: number } = { n: random.below(10) };
  first.next = { next: first, list: [first] };
  return first;
}

const SIMPLE: readonly Make[] = [
  (random) => random.pick(NUMBERS),
  (random) => random.word() / 7,
  (random) => random.pick(STRINGS),
  (random) => 'x'.repeat(random.below(100_000)),
  (random) => (random.chance(0.5) ? 1n : -1n) << BigInt(random.below(300)),
  (random) => random.chance(0.5),
  () => undefined,
  () => null,
  (random) => new Date(random.chance(0.1) ? Number.NaN : random.word() * 1000),
  (random) => new RegExp(random.pick(['a+', '[^x]', '']), random.pick(['', 'g', 'gi', 'u'])),
  (random) => Object(random.pick([1, 'text', true, 7n])),
  (random) => new DataView(memory(random, ArrayBuffer)),
  (random) => Buffer.from(memory(random, ArrayBuffer)),
  (random) => memory(random, ArrayBuffer),
  (random) => view(random, memory(random, ArrayBuffer)),
  (random) => view(random, memory(random, ArrayBuffer)),
  failure,
  holes,
];
const NESTED: readonly Make[] = [
  list,
  object,
  (random, depth) => new Map(list(random, depth).map((value, index) => [index % 2 ? value : index, value])),
  (random, depth) => new Set(list(random, depth)),
  (random) => Array.from({ length: random.below(20_000) }, (_, index) => index ^ 5),
  (random) => Array.from({ length: random.below(2000) }, (_, id) => ({ id, name: `name ${id}` })),
];
const SHARED: readonly Make[] = [
  (random) => memory(random, SharedArrayBuffer),
  (random) => view(random, memory(random, SharedArrayBuffer)),
];

function anyValue(random: Random, depth: number): unknown {
  return random.pick(depth >= MAX_DEPTH || random.chance(0.6) ? SIMPLE : NESTED)(random, depth);
}

/** Use of a value. An argument must not contain itself, and shared memory cannot be sent to a process. */
export type Purpose = 'argument' | 'result of a process' | 'result of a thread';

/** Returns the value for a seed. */
export function valueFrom(seed: number, purpose: Purpose): unknown {
  const random = new Random(seed);
  if (purpose !== 'argument' && random.chance(0.05)) return ring(random);
  if (purpose === 'result of a thread' && random.chance(0.1)) return random.pick(SHARED)(random, 0);
  return anyValue(random, 0);
}

function hash(data: string | Uint8Array): string {
  return createHash('sha1').update(data).digest('base64');
}

/**
 * Returns a text that is equal for values that may replace each other as results. The text omits the kind of memory
 * under a view, because threads share large views, and whether two places hold the same object.
 */
export function textOf(value: unknown, above: readonly object[] = []): string {
  if (typeof value === 'string') return value.length > 100 ? `long ${hash(value)}` : JSON.stringify(value);
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value !== 'object' || value === null) return Object.is(value, -0) ? '-0' : String(value);
  const cycle = above.lastIndexOf(value);
  if (cycle >= 0) return `^${above.length - cycle}`;
  return objectText(value, (part) => textOf(part, [...above, value]));
}

function objectText(value: object, text: (part: unknown) => string): string {
  const kind = Object.prototype.toString.call(value).slice(8, -1);
  if (ArrayBuffer.isView(value)) {
    const own = new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
    return `${kind}(${value.byteLength} ${hash(own)})`;
  }
  if (value instanceof ArrayBuffer || value instanceof SharedArrayBuffer)
    return `${kind}(${value.byteLength} ${hash(new Uint8Array(value))})`;
  if (value instanceof Date) return `Date(${value.getTime()})`;
  if (value instanceof RegExp) return String(value);
  if (value instanceof Error) {
    const cause = 'cause' in value ? ` cause ${text(value.cause)}` : '';
    return `${value.name}(${text(value.message)}${cause})`;
  }
  if (value instanceof Map) return `Map{${Array.from(value, (entry) => entry.map(text).join('=>')).join()}}`;
  if (value instanceof Set) return `Set{${Array.from(value, text).join()}}`;
  const own = Object.entries(value).map(([name, part]) => `${JSON.stringify(name)}:${text(part)}`);
  if (Array.isArray(value))
    return own.length > 100 ? `long ${hash(own.join())}` : `[${value.length} ${own.join()}]`;
  return kind === 'Object' ? `{${own.join()}}` : `${kind}(${String(value)})`;
}
