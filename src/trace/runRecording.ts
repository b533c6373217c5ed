// The recording of one run: its task table and what views need to name the rows. Several profilers that watch the same run
// share one recording, which is written once.
import type { Graph } from '../protocol/graph.js';
import type { CompletedTasks, RunInfo } from '../protocol/runObserver.js';
import { TaskTable } from './taskTable.js';

const recordings = new WeakMap<RunInfo, RunRecording>();

/**
 * What is kept of a run after it ended. It holds the graph and the columns, and never the RunInfo, whose state may hold
 * results.
 */
export class RunRecording {
  readonly graph: Graph;
  readonly size: number;
  readonly keys: readonly string[];
  readonly workers: readonly string[];
  readonly dependencyOffsets: Int32Array;
  readonly dependencies: Int32Array;
  readonly dependentOffsets: Int32Array;
  readonly dependents: Int32Array;
  /** 1 for the tasks whose results the caller asked for. */
  readonly requested: Uint8Array;
  readonly tasks: TaskTable;
  /** Seconds since the epoch. */
  readonly startTime: number;
  /** Seconds since the epoch, on the caller's thread; NaN while the run goes on. */
  endTime = Number.NaN;
  /** Whoever joined first writes; the others read. */
  readonly #writer: object;

  private constructor(run: RunInfo, startTime: number, writer: object) {
    this.graph = run.graph;
    this.size = run.size;
    this.keys = run.keys;
    this.workers = run.workers;
    this.dependencyOffsets = run.dependencyOffsets;
    this.dependencies = run.dependencies;
    this.dependentOffsets = run.dependentOffsets;
    this.dependents = run.dependents;
    this.requested = run.requested;
    this.tasks = new TaskTable(run.size);
    this.startTime = startTime;
    this.#writer = writer;
  }

  /** The recording of `run`, made by the first who asks. `member` is the one that will hand its batches on. */
  static join(run: RunInfo, startTime: number, member: object): RunRecording {
    let recording = recordings.get(run);
    if (recording === undefined) {
      recording = new RunRecording(run, startTime, member);
      recordings.set(run, recording);
    }
    return recording;
  }

  /** Every member hands on every batch; it is written once. */
  append(batch: CompletedTasks, member: object): void {
    if (member === this.#writer) this.tasks.append(batch);
  }

  /** Whether the graph has this key. */
  has(key: string): boolean {
    return isMap(this.graph) ? this.graph.has(key) : Object.hasOwn(this.graph, key);
  }

  /** The task with this id as it stands in the graph, e.g. `[add, 1, 2]`. */
  task(id: number): unknown {
    const key = this.keys[id]!;
    return isMap(this.graph) ? this.graph.get(key) : this.graph[key];
  }
}

/** Maps can be iterated, records cannot. `instanceof Map` would miss the lazy map that stands for a compiled graph. */
function isMap(graph: Graph): graph is ReadonlyMap<string, unknown> {
  return Symbol.iterator in graph;
}
