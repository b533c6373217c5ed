// Joins graph, engine and diagnostics: compiles, ships functions, picks a pool, gathers the callbacks of a run.

import { availableParallelism } from 'node:os';
import { ANY, COUNT, type OptionKinds, SIGNAL } from '../base/arguments.js';
import { type CallbackLike, callbacksForRun, observersOf } from '../diagnostics/callbackObservers.js';
import { suspended } from '../diagnostics/registry.js';
import { runInline } from '../engine/inlineRun.js';
import type { PoolKind } from '../engine/pool/pool.js';
import { taskContext } from '../engine/worker/taskContext.js';
import type { Plan } from '../graph/compile.js';
import type { LocalOptions } from '../graph/computeOptions.js';
import { functionRef } from '../graph/shipFunction.js';
import type { FunctionRef } from '../protocol/functionRef.js';
import type { Graph } from '../protocol/graph.js';
import { config } from './config.js';

/** Callbacks as every option takes them: one, or several. */
export type CallbacksOption = CallbackLike | readonly CallbackLike[];

export type GetOptions = LocalOptions<CallbacksOption>;

/** What the local schedulers take. */
export const LOCAL_OPTIONS: OptionKinds<LocalOptions> = {
  signal: SIGNAL,
  numWorkers: COUNT,
  callbacks: ANY,
  allowedFailures: COUNT,
};

/** The same from a caller whose callbacks were not checked yet. */
type UncheckedOptions = LocalOptions;

/** Runs on the caller's thread. Results by task id. */
export function runPlanInline(graph: Graph, plan: Plan, options: UncheckedOptions): readonly unknown[] {
  const observers = observersOf(callbacksForRun(options.callbacks));
  // A task may compute a graph of its own: as in Dask, the active callbacks watch the outermost run only.
  return suspended(() =>
    runInline(graph, plan, { observers, ...(options.signal ? { signal: options.signal } : {}) }),
  );
}

/** Runs on the shared pool of the given kind. Results by task id. */
export async function runPlanOnPool(
  kind: PoolKind,
  graph: Graph,
  plan: Plan,
  options: UncheckedOptions,
): Promise<readonly unknown[]> {
  const { signal, allowedFailures } = options;
  // Settings and callbacks are those of the call: they may be others when the engine is loaded.
  const poolSize = config.get('workers') ?? availableParallelism();
  const run = {
    poolSize,
    workers: options.numWorkers ?? poolSize,
    functions: shipFunctions(plan),
    observers: observersOf(callbacksForRun(options.callbacks)),
    ...(signal ? { signal } : {}),
    ...(allowedFailures === undefined ? {} : { allowedFailures }),
  };
  const [{ sharedPool }, { runOnPool }] = await Promise.all([
    import('../engine/pool/pool.js'),
    import('../engine/poolRun.js'),
  ]);
  return runOnPool(graph, plan, { ...run, pool: sharedPool(kind) });
}

/**
 * A script that defines tasks and computes at its top level is imported by every isolate to find its tasks. There the
 * computation must not start again: it waits for ever, and with it the rest of the script.
 */
export function isImportedByWorker(): boolean {
  return taskContext.worker !== undefined && !taskContext.running;
}

/** Names for all functions of a plan; says for which key a function cannot be shipped. */
function shipFunctions(plan: Plan): FunctionRef[] {
  return plan.functions.map((fn) => functionRef(fn));
}
