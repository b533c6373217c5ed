// Deterministic tokens: equal functions with equal arguments give equal tokens, in every isolate and process. A value
// that cannot be compared is refused, because a wrong token would silently merge two tasks.

import {
  isArrayBuffer,
  isDate,
  isMap,
  isPlainObject,
  isRegExp,
  isSet,
  isSharedArrayBuffer,
} from '../base/builtIns.js';
import { isError, LongpoleError } from '../base/errors.js';
import { getOrMake, oncePer } from '../base/lookUps.js';
import type { FunctionRef } from '../protocol/functionRef.js';
import { type AnyFunction, isFunction, resolveFunction } from './callable.js';
import { Delayed } from './delayed.js';
import { Hasher } from './hash.js';
import { Literal } from './literal.js';
import { checkNesting, holdsObjects } from './nesting.js';
import { functionRef } from './shipFunction.js';
import { uniqueToken } from './uniqueToken.js';

/** Written before every value, so that the words of one value cannot equal those of another type. */
const TAG = {
  undefined: 1,
  null: 2,
  false: 3,
  true: 4,
  integer: 5,
  number: 6,
  bigint: 7,
  string: 8,
  symbol: 9,
  function: 10,
  delayed: 11,
  array: 12,
  hole: 13,
  object: 14,
  map: 15,
  set: 16,
  date: 17,
  regexp: 18,
  buffer: 19,
  view: 20,
  error: 21,
  boxed: 22,
  literal: 23,
  instance: 24,
  part: 25,
} as const;

/**
 * Containers of a value that are added word by word, in a quarter of a second. Each further one that holds objects is added as
 * its own token, which takes thirty times as long, but is computed once: n containers that each hold the next one twice
 * have 2^n parts.
 */
const MOST_FLAT = 1_000_000;

class TokenHasher extends Hasher {
  readonly tokens: Map<object, string>;
  flatLeft: number;

  constructor(tokens: Map<object, string>, flatLeft: number) {
    super();
    this.tokens = tokens;
    this.flatLeft = flatLeft;
  }
}

/**
 * Returns a token of 32 hexadecimal digits for values. The order of an object's properties does not matter. The order
 * of a Map or a Set does, because a task can see it. Class instances count by class name and own enumerable
 * properties, like a copy in another isolate. Functions count by module and name or by source; a Delayed counts by
 * key.
 *
 * @throws LongpoleError ERR_LONGPOLE_NOT_CLONEABLE for a value that cannot be compared (a Promise, a WeakMap, a
 * unique symbol, …), ERR_LONGPOLE_INVALID_GRAPH for a value that contains itself
 * @source `dask.base.tokenize`
 */
export function tokenize(...values: readonly unknown[]): string {
  const hasher = new TokenHasher(new Map(), MOST_FLAT);
  for (const value of values) add(hasher, value, 0);
  return hasher.digest();
}

const float = new Float64Array(1);
const floatWords = new Int32Array(float.buffer);

function add(hasher: TokenHasher, value: unknown, depth: number): void {
  switch (typeof value) {
    case 'number':
      addNumber(hasher, value);
      break;
    case 'string':
      hasher.word(TAG.string);
      hasher.text(value);
      break;
    case 'boolean':
      hasher.word(value ? TAG.true : TAG.false);
      break;
    case 'undefined':
      hasher.word(TAG.undefined);
      break;
    case 'bigint':
      hasher.word(TAG.bigint);
      hasher.text(value.toString(16));
      break;
    case 'symbol':
      addSymbol(hasher, value);
      break;
    case 'function':
      if (isFunction(value)) addFunction(hasher, value);
      break;
    default:
      if (typeof value === 'object' && value !== null) addObject(hasher, value, depth);
      else hasher.word(TAG.null);
  }
}

function addNumber(hasher: Hasher, value: number): void {
  if ((value | 0) === value && !Object.is(value, -0)) {
    hasher.word(TAG.integer);
    hasher.word(value);
    return;
  }
  hasher.word(TAG.number);
  float[0] = Number.isNaN(value) ? Number.NaN : value;
  hasher.word(floatWords[0]!);
  hasher.word(floatWords[1]!);
}

function addSymbol(hasher: Hasher, value: symbol): void {
  const registered = Symbol.keyFor(value);
  if (registered === undefined) throw notComparable(`The symbol ${String(value)} is unique`);
  hasher.word(TAG.symbol);
  hasher.text(registered);
}

function addFunction(hasher: Hasher, fn: AnyFunction): void {
  hasher.word(TAG.function);
  hasher.text(functionToken(resolveFunction(fn)));
}

const functionTokens = new WeakMap<AnyFunction, string>();

/** Returns the token of a function: from its FunctionRef, or a unique token for a closure, which equals only itself. */
function functionToken(fn: AnyFunction): string {
  return getOrMake(functionTokens, fn, () => shippedToken(fn) ?? uniqueToken());
}

function shippedToken(fn: AnyFunction): string | undefined {
  try {
    return refToken(functionRef(fn));
  } catch (error) {
    if (error instanceof LongpoleError) return undefined;
    throw error;
  }
}

const refToken = oncePer((ref: FunctionRef): string | undefined => {
  switch (ref.type) {
    case 'module':
      return tokenize('module', ref.url, ref.name);
    case 'source':
      return tokenize('source', ref.expression);
    case 'global':
      return tokenize('global', ref.path);
    case 'python':
      return tokenize('python', ref.target);
    case 'unavailable':
      return undefined;
  }
});

function addObject(hasher: TokenHasher, value: object, depth: number): void {
  checkNesting(depth);
  if (value instanceof Delayed) {
    hasher.word(TAG.delayed);
    hasher.text(value.key);
  } else if (hasher.flatLeft-- > 0 || !holdsObjects(value)) {
    addContent(hasher, value, depth);
  } else {
    hasher.word(TAG.part);
    hasher.text(getOrMake(hasher.tokens, value, () => partToken(hasher.tokens, value, depth)));
  }
}

function partToken(tokens: Map<object, string>, value: object, depth: number): string {
  const hasher = new TokenHasher(tokens, 0);
  addContent(hasher, value, depth);
  return hasher.digest();
}

function addContent(hasher: TokenHasher, value: object, depth: number): void {
  if (Array.isArray(value)) {
    addArray(hasher, value, depth);
  } else if (isPlainObject(value)) {
    hasher.word(TAG.object);
    addProperties(hasher, value, depth);
  } else if (value instanceof Literal) {
    hasher.word(TAG.literal);
    add(hasher, value.value, depth + 1);
  } else if (!addBuiltIn(hasher, value, depth)) {
    addInstance(hasher, value, depth);
  }
}

function addArray(hasher: TokenHasher, value: readonly unknown[], depth: number): void {
  hasher.word(TAG.array);
  hasher.word(value.length);
  for (let index = 0; index < value.length; index++) {
    const element = value[index];
    if (element === undefined && !(index in value)) hasher.word(TAG.hole);
    else add(hasher, element, depth + 1);
  }
}

function addProperties(hasher: TokenHasher, value: object, depth: number): void {
  const names = Object.keys(value);
  if (names.length > 1) names.sort();
  hasher.word(names.length);
  for (const name of names) {
    hasher.text(name);
    add(hasher, Reflect.get(value, name), depth + 1);
  }
}

/** Adds an object whose content is not in its properties. Returns false for any other object. */
function addBuiltIn(hasher: TokenHasher, value: object, depth: number): boolean {
  if (isMap(value)) {
    hasher.word(TAG.map);
    hasher.word(value.size);
    for (const [key, part] of value) {
      add(hasher, key, depth + 1);
      add(hasher, part, depth + 1);
    }
  } else if (isSet(value)) {
    hasher.word(TAG.set);
    hasher.word(value.size);
    for (const part of value) add(hasher, part, depth + 1);
  } else if (isDate(value)) {
    hasher.word(TAG.date);
    addNumber(hasher, value.getTime());
  } else if (isRegExp(value)) {
    hasher.word(TAG.regexp);
    hasher.text(value.source);
    hasher.text(value.flags);
  } else if (ArrayBuffer.isView(value)) {
    hasher.word(TAG.view);
    hasher.text(className(value));
    hasher.bytes(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
  } else if (isArrayBuffer(value) || isSharedArrayBuffer(value)) {
    hasher.word(TAG.buffer);
    hasher.text(className(value));
    hasher.bytes(new Uint8Array(value));
  } else {
    return false;
  }
  return true;
}

function addInstance(hasher: TokenHasher, value: object, depth: number): void {
  if (isError(value)) {
    hasher.word(TAG.error);
    hasher.text(String(value.name));
    hasher.text(String(value.message));
    add(hasher, value.cause, depth + 1);
  } else if (value instanceof Number || value instanceof String || value instanceof Boolean) {
    hasher.word(TAG.boxed);
    add(hasher, value.valueOf(), depth + 1);
    return;
  } else if (Object.prototype.toString.call(value) !== '[object Object]') {
    // Built-in and host objects have such a name, and their content is not accessible.
    throw notComparable(`An object of class ${className(value)} has content that cannot be read`);
  } else {
    hasher.word(TAG.instance);
    hasher.text(className(value));
  }
  addProperties(hasher, value, depth);
}

function className(value: object): string {
  return value.constructor?.name ?? '';
}

function notComparable(what: string): LongpoleError {
  return new LongpoleError(
    'ERR_LONGPOLE_NOT_CLONEABLE',
    `${what}, so no deterministic key can be made from it. Pass plain data, or call the task without \`pure\`, or give it a key.`,
  );
}
