// Where a finished task's result is, as one byte beside each completion. Scalars travel in a number column, so that a
// million small results need no serialization at all.

export const KIND_UNDEFINED = 0;
export const KIND_NULL = 1;
export const KIND_FALSE = 2;
export const KIND_TRUE = 3;
/** The number stands in the number column. */
export const KIND_NUMBER = 4;
/** The value comes in a message of its own, serialized. */
export const KIND_VALUE = 5;
/** The value stays in the isolate: only tasks that were sent there need it. */
export const KIND_PRIVATE = 6;
/** The task threw; the error comes in a message of its own. */
export const KIND_ERROR = 7;

/** The value is in the store beside the isolate, as frames that come in a message of their own; the number is its bytes. */
export const KIND_STORED = 8;
/** The task was not run, because a task that it depends on had failed here. */
export const KIND_SKIPPED = 9;

/** Whether kind and number say it all. */
export function isScalar(kind: number): boolean {
  return kind <= KIND_NUMBER;
}

/** The kind of a scalar, or KIND_VALUE. */
export function kindOf(value: unknown): number {
  if (typeof value === 'number') return KIND_NUMBER;
  if (value === undefined) return KIND_UNDEFINED;
  if (value === null) return KIND_NULL;
  if (value === false) return KIND_FALSE;
  return value === true ? KIND_TRUE : KIND_VALUE;
}

/** The value of a scalar kind. */
export function scalarOf(kind: number, number: number): number | boolean | null | undefined {
  if (kind === KIND_NUMBER) return number;
  if (kind === KIND_UNDEFINED) return undefined;
  return kind === KIND_NULL ? null : kind === KIND_TRUE;
}

/** The names of the types that a result can have, by the code in the completion log; see typeOf. */
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

/** The code of a result's type, an index into RESULT_TYPES. What a structured clone makes a plain object is one. */
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
