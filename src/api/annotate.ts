// `annotate`: options for every task that a function makes.
import { AsyncLocalStorage } from 'node:async_hooks';
import { CALLABLE, checkArgument, checkOptions, type OptionKinds } from '../base/arguments.js';
import { type Annotations, setAnnotationSource } from '../graph/annotationContext.js';
import { TASK_OPTIONS } from './cluster/clientOptions.js';

const { timeout: _timeout, ...ANNOTATIONS } = TASK_OPTIONS;
const KINDS: OptionKinds<Annotations> = ANNOTATIONS;

const open = new AsyncLocalStorage<Annotations>();

/**
 * Gives options to every task that a function makes, also after an `await` in it: calls of `tasks()` and `delayed()` functions, and
 * what it submits. Blocks nest; the inner one wins. Options of a call of `submit` or `map` win over both.
 *
 *     const parts = annotate({ priority: 10, retries: 2 }, () => paths.map((path) => load(path)));
 *     await compute(merge(parts), { priority: 1 });
 *
 * Only clusters have such options: `compute` of an annotated task runs on one. Tasks with other options are another computation
 * there, so that results between the two stay at the workers until both have ended.
 *
 * @returns what the function returns
 * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT
 * @source Dask, `dask.annotate`
 */
export function annotate<R>(options: Annotations, fn: () => R): R {
  checkArgument('annotate(options, fn): fn', fn, CALLABLE);
  checkOptions('annotate()', options, KINDS);
  setAnnotationSource(() => open.getStore());
  return open.run({ ...open.getStore(), ...options }, fn);
}
