// The recording of one run: its task table, and the names of keys and workers. Profilers of the same run share one
// recording.
import { type Computation, TASK_MEMORY, type TaskRuns } from '../protocol/clusterObserver.js';
import type { Graph } from '../protocol/graph.js';
import type { RunWatcher, WatchedRun } from '../protocol/runObserver.js';
import { epochSeconds } from '../resources/clock.js';
import { TaskTable } from './taskTable.js';

const recordings = new WeakMap<Computation, RunRecording>();

/**
 * Returns a watcher that records a run, or shares its recording. Passes the recording to `joined` before the first
 * task.
 */
export function recordRun(joined: (recording: RunRecording) => void): RunWatcher {
  let recording: RunRecording | undefined;
  let isWriter = false;
  return {
    runStarted(run) {
      recording = recordings.get(run.computation);
      isWriter = recording === undefined;
      recording ??= new RunRecording(run);
      recordings.set(run.computation, recording);
      joined(recording);
    },
    tasksEnded(runs) {
      if (isWriter) recording?.append(runs);
    },
    computationForgotten() {
      if (recording !== undefined) recording.endTime = epochSeconds();
    },
  };
}

/**
 * A recorded run. It holds the graph and the columns, but not the RunInfo, because the state of a RunInfo may hold
 * results.
 */
export class RunRecording {
  readonly graph: Graph;
  readonly computation: Computation;
  readonly dependentOffsets: Int32Array;
  readonly dependents: Int32Array;
  /** 1 for tasks with requested results. */
  readonly requested: Uint8Array;
  readonly workers: WatchedRun['workers'];
  readonly tasks: TaskTable;
  /** End of the run in seconds since the epoch, on the caller's clock; NaN during the run. */
  endTime = Number.NaN;

  constructor({ graph, computation, dependentOffsets, dependents, requested, workers }: WatchedRun) {
    this.graph = graph;
    this.computation = computation;
    this.dependentOffsets = dependentOffsets;
    this.dependents = dependents;
    this.requested = requested;
    this.workers = workers;
    this.tasks = new TaskTable(computation.size);
  }

  /** Appends runs, except for a failed task, which is always the last one. */
  append(runs: TaskRuns): void {
    const { count, states } = runs;
    this.tasks.append(runs, states[count - 1] === TASK_MEMORY ? count : count - 1);
  }

  /** Whether the graph has this key. */
  has(key: string): boolean {
    return isMap(this.graph) ? this.graph.has(key) : Object.hasOwn(this.graph, key);
  }

  /** Returns the task with this id in the graph, e.g. `[add, 1, 2]`. */
  task(id: number): unknown {
    const key = this.computation.keys[id]!;
    return isMap(this.graph) ? this.graph.get(key) : this.graph[key];
  }

  workerName(index: number): string {
    return this.workers.get(index)?.name ?? String(index);
  }
}

/** Maps are iterable, records are not. `instanceof Map` is false for the lazy map of a compiled graph. */
function isMap(graph: Graph): graph is ReadonlyMap<string, unknown> {
  return Symbol.iterator in graph;
}
