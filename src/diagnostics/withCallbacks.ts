// `withCallbacks`: activates callbacks during a function.
import { CALLABLE, checkArgument } from '../base/arguments.js';
import { External } from '../graph/external.js';
import { Callback } from './callback.js';
import { type CallbackLike, callbackList } from './callbackObservers.js';
import { activateItem } from './registry.js';

function activate(callback: CallbackLike): () => void {
  return callback instanceof Callback ? callback[Symbol.dispose] : activateItem(callback);
}

/** A future does not count, because `fn` returns it as a reference. */
function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  if (value instanceof External) return false;
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

/**
 * Runs `fn` while `callbacks` are active, activated in the given order. If `fn` returns a promise, the callbacks stay
 * active until the promise settles. Meanwhile they also receive runs that other code of this isolate starts. They are
 * deactivated in reverse order, even if `fn` throws.
 *
 *     await withCallbacks([new ProgressBar(), profiler], () => getThreaded(graph, 'x'));
 *
 * @returns the return value of `fn`
 * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT if a value of `callbacks` is not a callback; the errors of `fn`
 * @source Dask's `add_callbacks`
 */
export function withCallbacks<R>(
  callbacks: CallbackLike | readonly CallbackLike[],
  fn: () => Promise<R>,
): Promise<R>;
export function withCallbacks<R>(callbacks: CallbackLike | readonly CallbackLike[], fn: () => R): R;
export function withCallbacks(callbacks: CallbackLike | readonly CallbackLike[], fn: () => unknown): unknown {
  checkArgument('withCallbacks(callbacks, fn): fn', fn, CALLABLE);
  const deactivators: (() => void)[] = [];
  const leave = (): void => {
    for (const deactivate of deactivators.splice(0).reverse()) deactivate();
  };
  let result: unknown;
  try {
    for (const callback of callbackList(callbacks)) deactivators.push(activate(callback));
    result = fn();
  } catch (error) {
    leave();
    throw error;
  }
  if (isPromiseLike(result)) return Promise.resolve(result).finally(leave);
  leave();
  return result;
}
