// A compiled graph as columns, which the caller sends to the isolates. Each task is one expression in prefix
// notation: a column of operations and a column of operands. One message per graph instead of one per task makes
// small tasks cheap. Typed arrays can be in shared memory, where sending them costs nothing.
//
// | operation | operand | followed by |
// |---|---|---|
// | NUMBER | the number | |
// | REF | id of the task whose result stands here | |
// | CONSTANT | index into the constants | |
// | FUNCTION | index into the functions; the function itself is the value | |
// | CALL | count of arguments × CALL_BASE + index of the function | the arguments |
// | ARRAY | length | the elements |
// | OBJECT | index into the constants, which holds the array of property names | the property values |
// | MAP | count of entries | key, value, key, value, … |
// | SET | count | the members |

export const OP_NUMBER = 0;
export const OP_REF = 1;
export const OP_CONSTANT = 2;
export const OP_FUNCTION = 3;
export const OP_CALL = 4;
export const OP_ARRAY = 5;
export const OP_OBJECT = 6;
export const OP_MAP = 7;
export const OP_SET = 8;

/** Limit of distinct functions in one graph. */
export const CALL_BASE = 2 ** 24;

/** The columns of a program. Ids are ranks: the task that should run first has id 0, and dependencies have smaller ids. */
export interface Program {
  readonly size: number;
  /** size + 1 offsets into `operations` and `operands`. */
  readonly tokenOffsets: Int32Array;
  readonly operations: Uint8Array;
  readonly operands: Float64Array;
  /** size + 1 offsets into `dependencies`: the distinct tasks whose results a task uses. */
  readonly dependencyOffsets: Int32Array;
  readonly dependencies: Int32Array;
  /** Number of tasks that use each result. */
  readonly dependentCounts: Int32Array;
}

/** Returns the distinct tasks whose results a task uses. */
export function dependenciesOf(
  { dependencyOffsets, dependencies }: Pick<Program, 'dependencyOffsets' | 'dependencies'>,
  id: number,
): Int32Array {
  return dependencies.subarray(dependencyOffsets[id], dependencyOffsets[id + 1]);
}

/** Returns the tasks that use the result of a task. */
export function dependentsOf(
  {
    dependentOffsets,
    dependents,
  }: { readonly dependentOffsets: Int32Array; readonly dependents: Int32Array },
  id: number,
): Int32Array {
  return dependents.subarray(dependentOffsets[id], dependentOffsets[id + 1]);
}

/** A program with one task, which has no dependencies, in a message. */
export interface SingleTask {
  readonly operations: readonly number[];
  readonly operands: readonly number[];
}

/** Returns the index of the function that a task calls; -1 for an alias or a list of results. */
export function functionOf({ tokenOffsets, operations, operands }: Program, id: number): number {
  const at = tokenOffsets[id]!;
  return operations[at] === OP_CALL ? operands[at]! % CALL_BASE : -1;
}
