// Defines what counts as a function, and which function a TaskFunction represents.

/** Any function. A call requires a narrower type. */
export type AnyFunction = (...args: never[]) => unknown;

/**
 * The property of a TaskFunction that holds its function. The symbol is registered, because a program may load two
 * copies of this package.
 */
export const TASK_TARGET: unique symbol = Symbol.for('longpole.taskTarget');

export function isFunction(value: unknown): value is AnyFunction {
  return typeof value === 'function';
}

/** Returns the function that a value represents in a graph: the `fn` of a TaskFunction, else the function itself. */
export function resolveFunction(value: AnyFunction): AnyFunction {
  if (TASK_TARGET in value && isFunction(value[TASK_TARGET])) return value[TASK_TARGET];
  return value;
}

/** Returns whether a function is a class in the source, so that a call without `new` throws. */
export function isClass(fn: AnyFunction): boolean {
  return /^class\b/.test(Function.prototype.toString.call(fn));
}
