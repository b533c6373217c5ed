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
