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

type Column = TaskRuns['ids'] | TaskRuns['states'] | TaskRuns['types'] | TaskRuns['nbytes'];

/** Returns the rows of runs with a result. Watchers do not receive runs that failed, were cancelled or lost. */
export function succeeded(runs: TaskRuns): TaskRuns {
  const { count, states } = runs;
  const isMade = (row: number): boolean => row < count && states[row] === TASK_MEMORY;
  const kept = runs.ids.filter((_id, row) => isMade(row)).length;
  if (kept === count) return runs;
  const columns = Object.entries(runs).map(([name, column]: [string, unknown]): [string, unknown] => {
    const perRow = name === 'shapes' ? MAX_DIMENSIONS : 1;
    const isKept = (_value: number, at: number): boolean => isMade(Math.floor(at / perRow));
    return [name, isColumn(column) ? column.filter(isKept) : column];
  });
  return { ...runs, ...Object.fromEntries(columns), count: kept };
}

function isColumn(value: unknown): value is Column {
  return ArrayBuffer.isView(value);
}
