// Callbacks for the length of a function.
import { CALLABLE, checkArgument } from '../base/arguments.js';
import { External } from '../graph/external.js';
import { Callback } from './callback.js';
import { type CallbackLike, callbackList } from './callbackObservers.js';
import { activateItem } from './registry.js';

function activate(callback: CallbackLike): () => void {
  return callback instanceof Callback ? callback[Symbol.dispose] : activateItem(callback);
}

/** Not futures: `fn` returns a reference to a result, not the end of its own work. */
function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  if (value instanceof External) return false;
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

/**
 * Runs `fn` with `callbacks` active, in the order given, and returns what it returns. If that is a promise, the callbacks
 * stay active until it settles: every run that starts meanwhile in this isolate is seen, also one that `fn` did not start.
 * They are deactivated in reverse order, also when `fn` throws.
 *
 *     await withCallbacks([new ProgressBar(), profiler], () => getThreaded(graph, 'x'));
 *
 * @throws ERR_LONGPOLE_INVALID_ARGUMENT if one of `callbacks` is not a callback
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
