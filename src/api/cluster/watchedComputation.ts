// Calls watchers (progress bars, profilers) for a computation on a cluster, in the same order as a local scheduler
// does.
import type { ClusterEngine } from '../../engine/cluster/clusterEngine.js';
import type { ComputationState } from '../../engine/cluster/computationState.js';
import type { Plan } from '../../graph/compile.js';
import {
  type ClusterObserver,
  TASK_MEMORY,
  type TaskRuns,
  type WorkerInfo,
} from '../../protocol/clusterObserver.js';
import { MAX_DIMENSIONS } from '../../protocol/completionLog.js';
import type { Graph } from '../../protocol/graph.js';
import type { RunWatcher, WatchedRun } from '../../protocol/runObserver.js';
import { planGraph } from '../planGraph.js';

/** Milliseconds between calls of `progress` while no task ends. */
const TICK_MS = 50;

/**
 * Calls the watchers for a computation until `work` settles.
 *
 * @returns the outcome of `work`
 * @throws (rejects) the error of `work`; if there is none, the first error of a watcher
 */
export async function watched<R>(
  engine: ClusterEngine,
  { computation, plan }: { readonly computation: ComputationState; readonly plan: Plan },
  watchers: readonly RunWatcher[],
  work: Promise<R>,
): Promise<R> {
  if (watchers.length === 0) return work;
  const watch = new Watch(computation, plan, watchers);
  const stop = engine.observe(watch);
  const timer = setInterval(() => watch.progress(), TICK_MS);
  timer.unref();
  const end = (error: unknown): void => {
    clearInterval(timer);
    stop();
    watch.end(error);
  };
  let result: R;
  try {
    result = await work;
  } catch (error) {
    end(error);
    throw error;
  }
  end(undefined);
  if (watch.failure !== undefined) throw watch.failure.error;
  return result;
}

class Watch implements ClusterObserver, WatchedRun {
  readonly graph: Graph;
  readonly computation: WatchedRun['computation'];
  readonly dependentOffsets: Int32Array;
  readonly dependents: Int32Array;
  readonly requested: Uint8Array;
  readonly workers = new Map<number, WorkerInfo>();
  finishedCount: number;
  /** First error of a watcher. */
  failure: { readonly error: unknown } | undefined;
  readonly #watchers: readonly RunWatcher[];
  readonly #finished: Uint8Array;

  constructor({ info, imports }: ComputationState, plan: Plan, watchers: readonly RunWatcher[]) {
    this.graph = planGraph(plan);
    this.computation = info;
    this.dependentOffsets = plan.dependents.offsets;
    this.dependents = plan.dependents.targets;
    this.requested = plan.requested;
    // Imported results belong to other computations.
    this.finishedCount = imports.size;
    this.#finished = new Uint8Array(info.size);
    this.#watchers = watchers;
    this.#notify((watcher) => {
      watcher.runStarted?.(this);
      watcher.computationAdded?.(info);
    });
  }

  workerAdded(worker: WorkerInfo): void {
    this.workers.set(worker.index, worker);
    this.#notify((watcher) => watcher.workerAdded?.(worker));
  }

  tasksEnded(runs: TaskRuns): void {
    if (runs.computation !== this.computation) return;
    const made = succeeded(runs);
    for (const id of made.ids.subarray(0, made.count)) {
      if (this.#finished[id] === 0) this.finishedCount++;
      this.#finished[id] = 1;
    }
    if (made.count > 0) this.#notify((watcher) => watcher.tasksEnded?.(made));
    this.progress();
  }

  progress(): void {
    this.#notify((watcher) => watcher.progress?.(this));
  }

  end(error: unknown): void {
    this.#notify((watcher) => {
      watcher.runFinished?.(this, error);
      watcher.computationForgotten?.(this.computation);
    });
  }

  #notify(call: (watcher: RunWatcher) => void): void {
    for (const watcher of this.#watchers) {
      try {
        call(watcher);
      } catch (error) {
        this.failure ??= { error };
      }
    }
  }
}

/** Returns the rows of runs with a result. Watchers do not receive runs that failed, were cancelled or lost. */
export function succeeded(runs: TaskRuns): TaskRuns {
  const { count, states, threads, coreWaits, seceded, resumed, waited, dimensions, shapes } = runs;
  const rows: number[] = [];
  for (let row = 0; row < count; row++) if (states[row] === TASK_MEMORY) rows.push(row);
  if (rows.length === count) return runs;
  const floats = (column: Float64Array): Float64Array => Float64Array.from(rows, (row) => column[row]!);
  const bytes = (column: Uint8Array): Uint8Array => Uint8Array.from(rows, (row) => column[row]!);
  return {
    ...runs,
    count: rows.length,
    ids: Int32Array.from(rows, (row) => runs.ids[row]!),
    states: bytes(states),
    types: Uint16Array.from(rows, (row) => runs.types[row]!),
    nbytes: floats(runs.nbytes),
    attempts: bytes(runs.attempts),
    ready: floats(runs.ready),
    dispatched: floats(runs.dispatched),
    received: floats(runs.received),
    started: floats(runs.started),
    stopped: floats(runs.stopped),
    ...(threads === undefined ? {} : { threads: Int32Array.from(rows, (row) => threads[row]!) }),
    ...(coreWaits === undefined ? {} : { coreWaits: floats(coreWaits) }),
    ...(seceded === undefined ? {} : { seceded: floats(seceded) }),
    ...(resumed === undefined ? {} : { resumed: floats(resumed) }),
    ...(waited === undefined ? {} : { waited: floats(waited) }),
    ...(dimensions === undefined || shapes === undefined
      ? {}
      : {
          dimensions: bytes(dimensions),
          shapes: Float64Array.from(
            rows.flatMap((row) => [...shapes.subarray(MAX_DIMENSIONS * row, MAX_DIMENSIONS * (row + 1))]),
          ),
        }),
  };
}
