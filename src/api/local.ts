// `longpole/local`: the local schedulers, which run graphs in Dask's form.
import { checkOptions } from '../base/arguments.js';
import type { PoolKind } from '../engine/pool/pool.js';
import { compileGraph, type Plan } from '../graph/compile.js';
import { flattenKeys, shapeLike } from '../graph/nestedKeys.js';
import type { Graph, Keys } from '../protocol/graph.js';
import { epochSeconds } from '../resources/clock.js';
import {
  type GetOptions,
  isImportedByWorker,
  LOCAL_OPTIONS,
  runPlanInline,
  runPlanOnPool,
} from './runPlan.js';

export { terminateSharedPools } from '../engine/pool/pool.js';
export { literal } from '../graph/literal.js';
export type { Graph, Keys } from '../protocol/graph.js';
export type { CallbacksOption, GetOptions } from './runPlan.js';

/**
 * Computes keys of a graph on the caller's thread, which is blocked until then. Arguments and results are not copied.
 *
 *     getSync({ a: [add, 1, 2], b: [add, 3, 'a'], c: [mul, 'a', 'b'] }, ['c', ['a', 'b']])  // [18, [3, 6]]
 *
 * @param keys one key, or arrays of keys nested to any depth
 * @returns the results in the shape of `keys`
 * @throws TaskError if a task throws, with the thrown value as `cause`; ERR_LONGPOLE_ASYNC_IN_SYNC if a task returns a
 *   promise; ERR_LONGPOLE_UNKNOWN_KEY, ERR_LONGPOLE_CYCLE, ERR_LONGPOLE_INVALID_GRAPH, ERR_LONGPOLE_INVALID_ARGUMENT;
 *   ERR_LONGPOLE_ABORTED if the signal is aborted, which is checked between tasks; the errors of callbacks
 * @source Dask's `dask.get`
 */
export function getSync<R = unknown>(graph: Graph, keys: Keys, options?: GetOptions): R;
export function getSync(graph: Graph, keys: Keys, options: GetOptions = {}): unknown {
  checkOptions('getSync()', options, LOCAL_OPTIONS);
  const called = epochSeconds();
  const plan = compileGraph(graph, flattenKeys(keys), { byReference: true, priority: options.priority ?? 0 });
  return shape(keys, plan, runPlanInline(graph, plan, options, called));
}

/**
 * Computes keys of a graph on worker threads. By default there is one thread per core. Later calls use the same
 * threads. Workers import the module of a function of `tasks()` and receive the source text of other functions. Results
 * are copied; large typed arrays are shared.
 *
 * @param keys one key, or arrays of keys nested to any depth
 * @returns (resolves) the results in the shape of `keys`
 * @throws (rejects) the errors of getSync except ERR_LONGPOLE_ASYNC_IN_SYNC; ERR_LONGPOLE_FREE_VARIABLE,
 *   ERR_LONGPOLE_NOT_SHIPPABLE, ERR_LONGPOLE_NOT_CLONEABLE, ERR_LONGPOLE_MODULE_TASK, ERR_LONGPOLE_WORKER_START;
 *   KilledWorkerError if a task repeatedly ends its worker
 * @source Dask's `dask.threaded.get`
 */
export function getThreaded<R = unknown>(graph: Graph, keys: Keys, options?: GetOptions): Promise<R>;
export async function getThreaded(graph: Graph, keys: Keys, options: GetOptions = {}): Promise<unknown> {
  checkOptions('getThreaded()', options, LOCAL_OPTIONS);
  return onPool('threads', graph, keys, options);
}

/**
 * Computes keys of a graph in child processes. By default there is one process per core. Later calls use the same
 * processes. If a process ends unexpectedly, another process runs its tasks again.
 *
 * @param keys one key, or arrays of keys nested to any depth
 * @returns (resolves) the results in the shape of `keys`
 * @throws (rejects) the errors of getThreaded
 * @source Dask's `dask.multiprocessing.get`
 */
export function getMultiprocessing<R = unknown>(graph: Graph, keys: Keys, options?: GetOptions): Promise<R>;
export async function getMultiprocessing(
  graph: Graph,
  keys: Keys,
  options: GetOptions = {},
): Promise<unknown> {
  checkOptions('getMultiprocessing()', options, LOCAL_OPTIONS);
  return onPool('processes', graph, keys, options);
}

async function onPool(kind: PoolKind, graph: Graph, keys: Keys, options: GetOptions): Promise<unknown> {
  if (isImportedByWorker()) return new Promise(() => undefined);
  const called = epochSeconds();
  const shared = kind === 'threads';
  const plan = compileGraph(graph, flattenKeys(keys), { shared, priority: options.priority ?? 0 });
  return shape(keys, plan, await runPlanOnPool(kind, graph, plan, options, called));
}

function shape(keys: Keys, plan: Plan, results: readonly unknown[]): unknown {
  return shapeLike(keys, (key) => {
    const id = plan.ids.get(key);
    return id === undefined ? plan.data.get(key) : results[id];
  });
}
