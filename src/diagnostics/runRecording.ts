// The recording of one run: its task table and what views need to name the rows. Several profilers that watch the same run
// share one recording, which is written once.
import { type Computation, TASK_MEMORY, type TaskRuns } from '../protocol/clusterObserver.js';
import type { Graph } from '../protocol/graph.js';
import type { RunWatcher, WatchedRun } from '../protocol/runObserver.js';
import { epochSeconds } from '../resources/clock.js';
import { TaskTable } from './taskTable.js';

const recordings = new WeakMap<Computation, RunRecording>();

/** Joins the recording of the run and hands it to `joined` once, before the first task. */
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
 * What is kept of a run after it ended. It holds the graph and the columns, and never the RunInfo, whose state may hold
 * results.
 */
export class RunRecording {
  readonly graph: Graph;
  readonly computation: Computation;
  readonly dependentOffsets: Int32Array;
  readonly dependents: Int32Array;
  /** 1 for the tasks whose results the caller asked for. */
  readonly requested: Uint8Array;
  readonly workers: WatchedRun['workers'];
  readonly tasks: TaskTable;
  /** Seconds since the epoch, on the caller's thread; NaN while the run goes on. */
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

  /** A task that failed is the last of its runs; it has no row. */
  append(runs: TaskRuns): void {
    const { count, states } = runs;
    this.tasks.append(runs, states[count - 1] === TASK_MEMORY ? count : count - 1);
  }

  /** Whether the graph has this key. */
  has(key: string): boolean {
    return isMap(this.graph) ? this.graph.has(key) : Object.hasOwn(this.graph, key);
  }

  /** The task with this id as it stands in the graph, e.g. `[add, 1, 2]`. */
  task(id: number): unknown {
    const key = this.computation.keys[id]!;
    return isMap(this.graph) ? this.graph.get(key) : this.graph[key];
  }

  workerName(index: number): string {
    return this.workers.get(index)?.name ?? String(index);
  }
}

/** Maps can be iterated, records cannot. `instanceof Map` would miss the lazy map that stands for a compiled graph. */
function isMap(graph: Graph): graph is ReadonlyMap<string, unknown> {
  return Symbol.iterator in graph;
}
