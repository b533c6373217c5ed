// What counts as a function here, and what a TaskFunction stands for.

/** Any function at all. To call one, more must be known about it. */
export type AnyFunction = (...args: never[]) => unknown;

/**
 * The property of a TaskFunction that holds its function. A registered symbol, because a program may hold two copies
 * of this package.
 */
export const TASK_TARGET: unique symbol = Symbol.for('longpole.taskTarget');

export function isFunction(value: unknown): value is AnyFunction {
  return typeof value === 'function';
}

/** The function that a function stands for in a graph: the `fn` of a TaskFunction, else the function itself. */
export function resolveFunction(value: AnyFunction): AnyFunction {
  if (TASK_TARGET in value && isFunction(value[TASK_TARGET])) return value[TASK_TARGET];
  return value;
}

/** Whether a function is a class as written in the source: calling it without `new` throws. */
export function isClass(fn: AnyFunction): boolean {
  return /^class\b/.test(Function.prototype.toString.call(fn));
}
