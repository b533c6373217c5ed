// Errors as plain data. A structured clone of an Error loses `code` and other own properties, and turns a user's
// class into a plain Error. Errors of JavaScript's own classes and of Longpole keep their class here.
import { isErrorCode, KilledWorkerError, LongpoleError, TaskError } from '../base/errors.js';
import { hasFields } from '../base/json.js';

export interface ErrorInfo {
  readonly name: string;
  readonly message: string;
  readonly stack: string;
  /** Own properties that are strings, numbers or booleans: `code`, `errno`, `path`, … */
  readonly properties: Readonly<Record<string, string | number | boolean>>;
  readonly cause?: ErrorInfo;
  /** Elements of the property `errors`, e.g. of an AggregateError of Promise.any(), at most MAX_ERRORS. */
  readonly errors?: readonly ErrorInfo[];
  /** The thrown value, if it was a primitive and not an Error. */
  readonly primitive?: { readonly value: Primitive };
}

type Primitive = string | number | bigint | boolean | null | undefined;

/** Deepest nesting of causes. Deeper causes are omitted. */
const MAX_CAUSES = 8;
/** Largest number of errors of an AggregateError. Further ones are omitted. */
const MAX_ERRORS = 16;
/** Longest stack or message. Longer ones are cut, so that one error cannot fill a channel. */
const MAX_TEXT = 64 * 1024;

/** Converts any thrown value to data. A value that is no Error becomes an error with the value as text. */
export function toErrorInfo(thrown: unknown, depth = 0): ErrorInfo {
  try {
    return infoOf(thrown, depth);
  } catch (error) {
    // A getter of the thrown object throws, e.g. `stack` after the program has set a defective Error.prepareStackTrace.
    const message = `An error was thrown whose properties cannot be read: ${thrownText(error)}`;
    return { name: 'Error', message, stack: '', properties: {} };
  }
}

function infoOf(thrown: unknown, depth: number): ErrorInfo {
  if (!isErrorLike(thrown)) {
    return {
      name: 'Error',
      message: `A value that is not an Error was thrown: ${thrownText(thrown)}`,
      stack: '',
      properties: {},
      ...(isPrimitive(thrown) ? { primitive: { value: thrown } } : {}),
    };
  }
  const properties: Record<string, string | number | boolean> = {};
  for (const [name, value] of Object.entries(thrown)) {
    if (name === 'stack' || name === 'message' || name === 'name') continue;
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
      properties[name] = value;
  }
  const info = {
    name: thrownText(thrown.name),
    message: thrownText(thrown.message),
    stack: thrownText(thrown.stack ?? ''),
    properties,
  };
  if (depth === MAX_CAUSES) return info;
  const { cause, errors } = thrown;
  return {
    ...info,
    ...(cause === undefined ? {} : { cause: toErrorInfo(cause, depth + 1) }),
    ...(areErrors(errors) ? { errors: firstErrors(errors, depth + 1) } : {}),
  };
}

/** Errors of errors are omitted, so that the number of errors does not grow with each level. */
function firstErrors(errors: readonly unknown[], depth: number): ErrorInfo[] {
  return errors.slice(0, MAX_ERRORS).map((error) => {
    const { errors: _, ...info } = toErrorInfo(error, depth);
    return info;
  });
}

function areErrors(values: unknown): values is readonly unknown[] {
  return Array.isArray(values) && values.length > 0 && values.every(isErrorLike);
}

/** Returns whether a received value is an ErrorInfo. */
export function isErrorInfo(value: unknown): value is ErrorInfo {
  return hasFields(value, { message: 'string', stack: 'string', properties: 'object' });
}

function isPrimitive(value: unknown): value is Primitive {
  return value === null || !['object', 'function', 'symbol'].includes(typeof value);
}

/** Returns the thrown value as exactly as possible: the primitive itself, or an Error made by fromErrorInfo. */
export function thrownOf(info: ErrorInfo): unknown {
  return info.primitive === undefined ? fromErrorInfo(info) : info.primitive.value;
}

export const BUILT_IN_ERRORS: ReadonlyMap<string, ErrorConstructor> = new Map([
  ['EvalError', EvalError],
  ['RangeError', RangeError],
  ['ReferenceError', ReferenceError],
  ['SyntaxError', SyntaxError],
  ['TypeError', TypeError],
  ['URIError', URIError],
]);

/**
 * Returns an Error with the remote name, message, stack, properties, causes and errors. It has the same class if that is
 * known here.
 */
export function fromErrorInfo(info: ErrorInfo): Error {
  const error = newError(info, info.cause === undefined ? {} : { cause: fromErrorInfo(info.cause) });
  setHidden(error, 'name', info.name);
  setHidden(error, 'stack', info.stack || `${info.name}: ${info.message}`);
  if (info.errors !== undefined) setHidden(error, 'errors', info.errors.map(fromErrorInfo));
  return Object.assign(error, info.properties);
}

/** Sets a property of an error that is not enumerable, as V8 makes those of errors. */
export function setHidden(error: Error, name: string, value: unknown): void {
  Object.defineProperty(error, name, { value, configurable: true, writable: true });
}

function newError({ name, message, properties }: ErrorInfo, options: { cause?: unknown }): Error {
  const { code, key, worker, attempts, function: fn } = properties;
  if (name === 'AggregateError') return new AggregateError([], message, options);
  if (!isErrorCode(code)) return new (BUILT_IN_ERRORS.get(name) ?? Error)(message, options);
  if (typeof key !== 'string' || typeof worker !== 'string' || typeof fn !== 'string')
    return new LongpoleError(code, message, options);
  const where = { key, worker, function: fn };
  if (typeof attempts === 'number') return new KilledWorkerError(where, attempts, message, options);
  return new TaskError(where, message, { ...options, code });
}

interface ErrorLike {
  readonly name: unknown;
  readonly message: unknown;
  readonly stack?: unknown;
  readonly cause?: unknown;
  readonly errors?: unknown;
}

function isErrorLike(value: unknown): value is ErrorLike {
  return typeof value === 'object' && value !== null && 'message' in value && 'name' in value;
}

/** Returns a thrown value, or a part of an error, as text. Objects that have no text of their own are JSON. */
export function thrownText(value: unknown): string {
  let result: string;
  try {
    result = String(value);
    if (result === '[object Object]') result = JSON.stringify(value) ?? result;
  } catch {
    result = 'a value that cannot be shown as text';
  }
  return result.length > MAX_TEXT ? `${result.slice(0, MAX_TEXT)}…` : result;
}
