// `longpole/local`: the schedulers of one machine, over Dask's graph form.
import { checkOptions } from '../base/arguments.js';
import { compileGraph, type Plan } from '../graph/compile.js';
import { flattenKeys, shapeLike } from '../graph/nestedKeys.js';
import type { Graph, Keys } from '../protocol/graph.js';
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
 * Computes keys of a graph on the caller's own thread. It blocks until it is done; nothing is copied or shipped.
 *
 *     getSync({ a: [add, 1, 2], b: [add, 3, 'a'], c: [mul, 'a', 'b'] }, ['c', ['a', 'b']])  // [18, [3, 6]]
 *
 * @param keys one key, or arrays of keys nested to any depth
 * @returns the results in the shape of `keys`
 * @throws TaskError if a task throws, with what it threw as `cause`; ERR_LONGPOLE_ASYNC_IN_SYNC if one returns a promise;
 *   ERR_LONGPOLE_UNKNOWN_KEY, ERR_LONGPOLE_CYCLE, ERR_LONGPOLE_INVALID_GRAPH, ERR_LONGPOLE_INVALID_ARGUMENT,
 *   ERR_LONGPOLE_ABORTED (the signal is looked at between tasks); whatever a callback throws
 * @source seed 002; Dask's `dask.get`
 */
export function getSync<R = unknown>(graph: Graph, keys: Keys, options?: GetOptions): R;
export function getSync(graph: Graph, keys: Keys, options: GetOptions = {}): unknown {
  checkOptions('getSync()', options, LOCAL_OPTIONS);
  const plan = compileGraph(graph, flattenKeys(keys), { byReference: true });
  return shape(keys, plan, runPlanInline(graph, plan, options));
}

/**
 * Computes keys of a graph on worker threads, by default one per core, which stay for later calls. Functions are found
 * by module (`tasks()`) or shipped as source text; results are copied, large typed arrays shared.
 *
 * @returns a promise of the results in the shape of `keys`
 * @throws (rejects) as getSync does, and ERR_LONGPOLE_FREE_VARIABLE, ERR_LONGPOLE_NOT_SHIPPABLE,
 *   ERR_LONGPOLE_NOT_CLONEABLE, ERR_LONGPOLE_MODULE_TASK, ERR_LONGPOLE_WORKER_START; KilledWorkerError if a task keeps
 *   ending its worker
 * @source seed 002; Dask's `dask.threaded.get`
 */
export function getThreaded<R = unknown>(graph: Graph, keys: Keys, options?: GetOptions): Promise<R>;
export async function getThreaded(graph: Graph, keys: Keys, options: GetOptions = {}): Promise<unknown> {
  checkOptions('getThreaded()', options, LOCAL_OPTIONS);
  if (isImportedByWorker()) return new Promise(() => undefined);
  const plan = compileGraph(graph, flattenKeys(keys), { shared: true });
  return shape(keys, plan, await runPlanOnPool('threads', graph, plan, options));
}

/**
 * Computes keys of a graph on child processes, by default one per core, which stay for later calls. A process that
 * dies takes no other along, and its work is done again elsewhere.
 *
 * @returns a promise of the results in the shape of `keys`
 * @throws (rejects) as getThreaded does
 * @source seed 002; Dask's `dask.multiprocessing.get`
 */
export function getMultiprocessing<R = unknown>(graph: Graph, keys: Keys, options?: GetOptions): Promise<R>;
export async function getMultiprocessing(
  graph: Graph,
  keys: Keys,
  options: GetOptions = {},
): Promise<unknown> {
  checkOptions('getMultiprocessing()', options, LOCAL_OPTIONS);
  if (isImportedByWorker()) return new Promise(() => undefined);
  const plan = compileGraph(graph, flattenKeys(keys));
  return shape(keys, plan, await runPlanOnPool('processes', graph, plan, options));
}

function shape(keys: Keys, plan: Plan, results: readonly unknown[]): unknown {
  return shapeLike(keys, (key) => {
    const id = plan.ids.get(key);
    return id === undefined ? plan.data.get(key) : results[id];
  });
}
