// Values as messages to Python and back: a tree of JSON, and buffers for the content of typed arrays. Values that JSON
// lacks are objects with the one property `$`. python/longpole_dask/python_values.py has the counterpart.

import { isPlainObject } from '../../base/builtIns.js';
import { internalError, LongpoleError } from '../../base/errors.js';
import { arrowBytes } from '../../graph/arrowTable.js';

/** Deepest nesting of a value. A deeper value counts as cyclic. */
const MAX_DEPTH = 200;
/** Times of years 1 to 9999, which Python's datetime can represent, in milliseconds. */
const FIRST_TIME = -62_135_596_800_000;
const LAST_TIME = 253_402_300_799_999;
const EXPECTED =
  'numbers, strings, booleans, null, bigints, dates, typed arrays, arrowTable(), and arrays and plain objects of these';

type Numbers = ArrayBufferView<ArrayBufferLike>;

/** Python's name of the elements → class of the typed array. */
const ARRAYS = {
  f8: Float64Array,
  f4: Float32Array,
  i8: BigInt64Array,
  i4: Int32Array,
  i2: Int16Array,
  i1: Int8Array,
  u8: BigUint64Array,
  u4: Uint32Array,
  u2: Uint16Array,
  u1: Uint8Array,
} as const satisfies Record<string, new (buffer: ArrayBuffer) => Numbers>;

type ElementType = keyof typeof ARRAYS;

/** A message: `tree` can be converted to JSON. */
export interface Encoded {
  readonly tree: unknown;
  readonly buffers: readonly Uint8Array[];
}

/** Returns values as a message to Python. For errors, `what` names a value by its index, and `verb` says what to do instead. */
export function encodeValues(
  values: readonly unknown[],
  what: (index: number) => string,
  verb: 'Pass' | 'Return' = 'Pass',
): Encoded {
  const buffers: Uint8Array[] = [];
  const tree = values.map((value, index) => new Encoder(what(index), verb, buffers).encode(value, '', 0));
  return { tree, buffers };
}

class Encoder {
  readonly #what: string;
  readonly #verb: string;
  readonly #buffers: Uint8Array[];

  constructor(what: string, verb: string, buffers: Uint8Array[]) {
    this.#what = what;
    this.#verb = verb;
    this.#buffers = buffers;
  }

  encode(value: unknown, path: string, depth: number): unknown {
    switch (typeof value) {
      case 'string':
      case 'boolean':
        return value;
      case 'undefined':
        return null;
      case 'number':
        return encodeNumber(value);
      case 'bigint':
        return { $: ['i', String(value)] };
      case 'object':
        return value === null ? null : this.#object(value, path, depth);
      default:
        throw this.#refused(path, `a ${typeof value}`);
    }
  }

  #object(value: object, path: string, depth: number): unknown {
    if (depth > MAX_DEPTH)
      throw this.#refused(path.slice(0, 80), `nested deeper than ${MAX_DEPTH} levels, or contains itself`);
    if (Array.isArray(value))
      // Array.from visits holes, too.
      return Array.from(value, (part, index) => this.encode(part, `${path}[${index}]`, depth + 1));
    if (value instanceof Uint8ClampedArray) return { $: ['a', 'u1', this.#buffer(value)] };
    if (value instanceof Uint8Array) return { $: ['b', this.#buffer(value)] };
    if (ArrayBuffer.isView(value)) {
      const type = elementType(value);
      if (type !== undefined) return { $: ['a', type, this.#buffer(value)] };
    }
    if (value instanceof Date) return this.#date(value, path);
    if (!isPlainObject(value)) throw this.#refused(path, `a ${className(value)}`);
    const table = arrowBytes(value);
    if (table !== undefined) return { $: ['t', this.#buffer(table)] };
    const entries = Object.entries(value).map(([name, part]): [string, unknown] => [
      name,
      this.encode(part, `${path}.${name}`, depth + 1),
    ]);
    return Object.hasOwn(value, '$') ? { $: ['o', entries] } : Object.fromEntries(entries);
  }

  #date(value: Date, path: string): unknown {
    const time = value.getTime();
    if (time >= FIRST_TIME && time <= LAST_TIME) return { $: ['d', time] };
    throw this.#refused(path, Number.isNaN(time) ? 'an invalid Date' : 'a Date outside the years 1 to 9999');
  }

  #buffer(view: Numbers): number {
    return this.#buffers.push(new Uint8Array(view.buffer, view.byteOffset, view.byteLength)) - 1;
  }

  #refused(path: string, what: string): LongpoleError {
    return new LongpoleError(
      'ERR_LONGPOLE_PYTHON_VALUE',
      `${this.#what} cannot be sent to Python: ${path === '' ? 'it' : path} is ${what}. ${this.#verb} ${EXPECTED}.`,
    );
  }
}

/** Integers become `int`, all other numbers `float`. */
function encodeNumber(value: number): unknown {
  if (Number.isSafeInteger(value) && !Object.is(value, -0)) return value;
  const text = Object.is(value, -0) ? '-0' : String(value);
  // JSON writes large floats as digits, which Python would read as `int`.
  return Number.isInteger(value) || !Number.isFinite(value) ? { $: ['f', text] } : value;
}

function elementType(view: Numbers): ElementType | undefined {
  for (const type of Object.keys(ARRAYS))
    if (isElementType(type) && view instanceof ARRAYS[type]) return type;
  return undefined;
}

function isElementType(type: unknown): type is ElementType {
  return typeof type === 'string' && Object.hasOwn(ARRAYS, type);
}

function className(value: object): string {
  const { constructor: made } = value;
  return typeof made === 'function' && made.name !== '' ? made.name : 'an object of an unknown class';
}

/** Returns the value of a message from Python. */
export function decodeValue(tree: unknown, buffers: readonly ArrayBuffer[]): unknown {
  if (typeof tree !== 'object' || tree === null) return tree;
  if (Array.isArray(tree)) {
    for (let index = 0; index < tree.length; index++) tree[index] = decodeValue(tree[index], buffers);
    return tree;
  }
  if (Object.hasOwn(tree, '$') && '$' in tree && Array.isArray(tree.$)) return decodeTag(tree.$, buffers);
  // JSON.parse made `__proto__` an own property, and the assignment keeps it one.
  for (const [name, part] of Object.entries(tree)) Reflect.set(tree, name, decodeValue(part, buffers));
  return tree;
}

function decodeTag(parts: readonly unknown[], buffers: readonly ArrayBuffer[]): unknown {
  const [tag, first, second] = parts;
  const buffer = (index: unknown): ArrayBuffer => {
    const found = buffers[Number(index)];
    if (found !== undefined) return found;
    throw internalError('A message from Python lacks a buffer.');
  };
  switch (tag) {
    case 'f':
      return Number(first);
    case 'i':
      return BigInt(String(first));
    case 'd':
      return new Date(Number(first));
    case 'b':
      return new Uint8Array(buffer(first));
    case 't':
      return { $arrow: new Uint8Array(buffer(first)) };
    case 'a':
      if (isElementType(first)) return new ARRAYS[first](buffer(second));
      break;
    case 'o':
      if (Array.isArray(first)) return objectOf(first, buffers);
      break;
  }
  throw internalError(`A message from Python has an unknown tag: ${String(tag)}.`);
}

function objectOf(entries: readonly unknown[], buffers: readonly ArrayBuffer[]): unknown {
  const pairs = entries.flatMap((entry) =>
    Array.isArray(entry) ? [[String(entry[0]), decodeValue(entry[1], buffers)] as const] : [],
  );
  return Object.fromEntries(pairs);
}
