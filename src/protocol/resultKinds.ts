// Place of a finished task's result, as one byte beside each completion. Scalars travel in a column of numbers, so
// that a million small results need no serialization.

const KIND_UNDEFINED = 0;
const KIND_NULL = 1;
const KIND_FALSE = 2;
const KIND_TRUE = 3;
/** The number is in the column of numbers. */
export const KIND_NUMBER = 4;
/** The serialized value comes in a separate message. */
export const KIND_VALUE = 5;
/** The value stays in the isolate, because all tasks that need it were sent there. */
export const KIND_PRIVATE = 6;
/** The task threw. The error comes in a separate message. */
export const KIND_ERROR = 7;

/** The value goes to the store beside the isolate, packed, in a separate message. The number is its bytes. */
export const KIND_STORED = 8;
/** The task did not run, because one of its dependencies had failed here. */
export const KIND_SKIPPED = 9;
/** As KIND_VALUE, but packed, because only other isolates are known to need the value. */
export const KIND_PACKED = 10;

/** Returns whether kind and number contain the whole value. */
export function isScalar(kind: number): boolean {
  return kind <= KIND_NUMBER;
}

/** Returns whether the value or the error comes in a separate message. */
export function isSeparate(kind: number): boolean {
  return kind === KIND_VALUE || kind === KIND_ERROR || kind === KIND_STORED || kind === KIND_PACKED;
}

/** Returns the kind of a scalar, or KIND_VALUE. */
export function kindOf(value: unknown): number {
  if (typeof value === 'number') return KIND_NUMBER;
  if (value === undefined) return KIND_UNDEFINED;
  if (value === null) return KIND_NULL;
  if (value === false) return KIND_FALSE;
  return value === true ? KIND_TRUE : KIND_VALUE;
}

/** Returns the value of a scalar kind. */
export function scalarOf(kind: number, number: number): number | boolean | null | undefined {
  if (kind === KIND_NUMBER) return number;
  if (kind === KIND_UNDEFINED) return undefined;
  return kind === KIND_NULL ? null : kind === KIND_TRUE;
}

/** Names of the result types by their code in the completion log; see typeOf. */
export const RESULT_TYPES = [
  'undefined',
  'null',
  'boolean',
  'number',
  'string',
  'bigint',
  'Object',
  'Array',
  'Map',
  'Set',
  'Date',
  'RegExp',
  'Error',
  'ArrayBuffer',
  'SharedArrayBuffer',
  'DataView',
  'Float64Array',
  'Float32Array',
  'Int32Array',
  'Int16Array',
  'Int8Array',
  'Uint32Array',
  'Uint16Array',
  'Uint8Array',
  'Uint8ClampedArray',
  'BigInt64Array',
  'BigUint64Array',
] as const;

const TYPE_CODES: ReadonlyMap<string, number> = new Map(RESULT_TYPES.map((name, code) => [name, code]));
const OBJECT_TYPE = TYPE_CODES.get('Object') ?? 0;

/**
 * Returns the code of a result's type, an index into RESULT_TYPES. An object that a structured clone makes plain
 * counts as plain.
 */
export function typeOf(value: unknown): number {
  switch (typeof value) {
    case 'undefined':
      return 0;
    case 'boolean':
      return 2;
    case 'number':
      return 3;
    case 'string':
      return 4;
    case 'bigint':
      return 5;
    default:
      break;
  }
  if (value === null) return 1;
  const tag = Object.prototype.toString.call(value).slice(8, -1);
  return TYPE_CODES.get(tag) ?? OBJECT_TYPE;
}
