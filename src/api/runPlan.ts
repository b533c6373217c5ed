// Runs a plan on a local scheduler: ships its functions, selects the pool, and collects the callbacks of the run.

import { ANY, COUNT, FINITE, type OptionKinds, SIGNAL } from '../base/arguments.js';
import { type CallbackLike, callbacksForRun, observersOf } from '../diagnostics/callbackObservers.js';
import { callingLine } from '../diagnostics/callingLine.js';
import { suspended } from '../diagnostics/registry.js';
import { runInline } from '../engine/inlineRun.js';
import type { PoolKind } from '../engine/pool/pool.js';
import { isModuleCode, taskContext } from '../engine/worker/taskContext.js';
import type { Plan } from '../graph/compile.js';
import type { LocalOptions } from '../graph/computeOptions.js';
import { functionRefs } from '../graph/shipFunction.js';
import type { Graph } from '../protocol/graph.js';
import { coreCount } from '../resources/containerLimits.js';
import { config } from './config.js';

/** Value of the option `callbacks`: one callback, or several. */
export type CallbacksOption = CallbackLike | readonly CallbackLike[];

export type GetOptions = LocalOptions<CallbacksOption>;

export const LOCAL_OPTIONS: OptionKinds<LocalOptions> = {
  signal: SIGNAL,
  numWorkers: COUNT,
  concurrentTasks: COUNT,
  priority: FINITE,
  callbacks: ANY,
  allowedFailures: COUNT,
};

/** Runs a plan on the caller's thread. Returns the results by task id. `called`: time of the program's call. */
export function runPlanInline(
  graph: Graph,
  plan: Plan,
  options: LocalOptions,
  called: number,
): readonly unknown[] {
  const observers = observersOf(callbacksForRun(options.callbacks));
  // A task may compute another graph. As in Dask, active callbacks watch the outermost run only.
  const calledPlan = {
    ...plan,
    called,
    // Only observers and errors need the line, which is on the stack during the whole run.
    get code() {
      return callingLine(runPlanInline);
    },
  };
  return suspended(() =>
    runInline(graph, calledPlan, { observers, ...(options.signal ? { signal: options.signal } : {}) }),
  );
}

/** Runs a plan on the shared pool of a kind. Returns the results by task id. `called`: time of the program's call. */
export async function runPlanOnPool(
  kind: PoolKind,
  graph: Graph,
  plan: Plan,
  options: LocalOptions,
  called: number,
): Promise<readonly unknown[]> {
  const { signal, allowedFailures, concurrentTasks } = options;
  // Settings and callbacks are read before the `await`, after which they may have changed.
  const poolSize = config.get('workers') ?? coreCount();
  const code = callingLine(runPlanOnPool);
  const run = {
    poolSize,
    workers: options.numWorkers ?? poolSize,
    functions: functionRefs(plan.functions, false),
    observers: observersOf(callbacksForRun(options.callbacks)),
    concurrentTasks,
    ...(signal ? { signal } : {}),
    ...(allowedFailures === undefined ? {} : { allowedFailures }),
  };
  const [{ sharedPool }, { runOnPool }] = await Promise.all([
    import('../engine/pool/pool.js'),
    import('../engine/poolRun.js'),
  ]);
  const { size } = plan.program;
  const ended = taskContext.graphBegins?.({ tasks: size, workers: Math.min(run.workers, size) });
  try {
    return await runOnPool(graph, { ...plan, code, called }, { ...run, pool: sharedPool(kind) });
  } finally {
    ended?.();
  }
}

/**
 * Returns whether an isolate imports a script to find its tasks. A computation at the top level of the script must not
 * start again there. It waits forever instead, and with it the rest of the script.
 */
export function isImportedByWorker(): boolean {
  if (taskContext.worker === undefined) return false;
  return isModuleCode() || taskContext.running === 0;
}
