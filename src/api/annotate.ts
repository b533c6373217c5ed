// `annotate`: options for every task that a function defines or submits.
import { AsyncLocalStorage } from 'node:async_hooks';
import { CALLABLE, checkArgument, checkOptions, type OptionKinds } from '../base/arguments.js';
import { type Annotations, definedAnnotations } from '../graph/definedWith.js';
import { TASK_OPTIONS } from './cluster/clientOptions.js';

const { timeout: _timeout, ...ANNOTATIONS } = TASK_OPTIONS;
const KINDS: OptionKinds<Annotations> = ANNOTATIONS;

const open = new AsyncLocalStorage<Annotations>();

/**
 * Sets options for every task that `fn` defines or submits, also after an `await` in `fn`. Calls nest, and options of
 * the inner call take precedence. Options passed to `submit` or `map` take precedence over both.
 *
 *     const parts = annotate({ priority: 10, retries: 2 }, () => paths.map((path) => load(path)));
 *     await compute(merge(parts), { priority: 1 });
 *
 * Local schedulers support `priority`. The other options need a cluster, so `compute` of a task with one of them runs on a
 * cluster. There, tasks with different options form separate computations. Workers keep the results that are passed between these computations until all
 * have ended.
 *
 * @param options `priority`, `retries`, `workers`, `resources`; see ClusterTaskOptions
 * @returns the return value of `fn`
 * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT for an unknown option or a value of the wrong kind
 * @source Dask, `dask.annotate`
 */
export function annotate<R>(options: Annotations, fn: () => R): R {
  checkArgument('annotate(options, fn): fn', fn, CALLABLE);
  checkOptions('annotate()', options, KINDS);
  definedAnnotations.source = () => open.getStore();
  return open.run({ ...open.getStore(), ...options }, fn);
}
