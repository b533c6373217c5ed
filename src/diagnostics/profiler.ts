// The task profiler: a view over the recordings of the runs that it watched. Nothing is made per task while a run goes on;
// `results` is built when somebody reads it.
import { invalidArgument } from '../base/errors.js';
import type { Graph, Keys } from '../protocol/graph.js';
import type { RunObserver, RunWatcher } from '../protocol/runObserver.js';
import { Callback, ENTERED, OBSERVERS, WATCHERS } from './callback.js';
import { type CallbackLike, callbackList } from './callbackObservers.js';
import { ADD_TO, type PageSource, type ProfilerTrace } from './profilerTrace.js';
import { type RunRecording, recordRun } from './runRecording.js';
import { type VisualizeOptions, visualize } from './visualize.js';

/** One task that ran. */
export interface TaskData {
  readonly key: string;
  /** The task as it stands in the graph, e.g. `[add, 1, 2]`. */
  readonly task: unknown;
  /** Seconds since the epoch, taken where the task ran. */
  readonly startTime: number;
  /** Seconds since the epoch, taken where the task ran. */
  readonly endTime: number;
  /** Name of the worker that ran it, e.g. `threads-0`. */
  readonly workerId: string;
}

/** What `Profiler.get` passes on to its scheduler, beside the graph and the keys. */
export interface GetOptions {
  readonly callbacks?: CallbackLike | readonly CallbackLike[] | undefined;
}

/** A scheduler: `getSync`, `getThreaded` or `getMultiprocessing`. */
export type GetFunction<R> = (graph: Graph, keys: Keys, options?: GetOptions) => R;

/** The rows of one run that belong to a profiler: those from its last `clear()` on. */
interface Part {
  readonly recording: RunRecording;
  from: number;
  /** The materialised rows `from .. until`. */
  rows: readonly TaskData[];
  until: number;
}

/**
 * Records key, task, start and end time and worker of every task.
 *
 *     { using prof = new Profiler(); getSync(graph, 'c'); console.table(prof.results); }
 *
 * Results add up over the runs of a block, or while registered, until `clear()`; the first run in a new `using` block starts
 * afresh. Of a run that ended by an error, the tasks that had finished are there. Cost: a few array copies per batch of
 * tasks while the run goes on. It keeps the graph of every run that it saw until it is cleared, and never a result.
 *
 * @source Dask's `dask.diagnostics.Profiler`; the form with a scheduler is that of its first version
 */
export class Profiler<R = unknown> extends Callback implements PageSource {
  readonly #get: GetFunction<R> | undefined;
  #parts: Part[] = [];
  #results: TaskData[] | undefined;
  #fresh = false;

  /**
   * @param get a scheduler for `this.get` to run; without it, activate the profiler as any callback
   * @throws ERR_LONGPOLE_INVALID_ARGUMENT if `get` is not a function
   */
  constructor(get?: GetFunction<R>) {
    super();
    if (get !== undefined && typeof get !== 'function') {
      throw invalidArgument(
        `new Profiler(get): get must be a scheduler such as getThreaded, not ${typeof get}.`,
      );
    }
    this.#get = get;
    // Programs hand it on by itself: `compute({ get: profiler.get })`.
    this.get = this.get.bind(this);
  }

  /**
   * Runs the scheduler that the profiler was made from and records it: `new Profiler(getThreaded).get(graph, keys)`.
   * Returns what the scheduler returns; `options` are the scheduler's.
   *
   * @throws ERR_LONGPOLE_INVALID_ARGUMENT if the profiler was made without a scheduler
   */
  get(graph: Graph, keys: Keys, options: GetOptions & Readonly<Record<string, unknown>> = {}): R {
    if (this.#get === undefined) {
      throw invalidArgument(
        'Profiler.get: this profiler was made without a scheduler. Make it with new Profiler(getThreaded).',
      );
    }
    return this.#get(graph, keys, {
      ...options,
      callbacks: [...callbackList(options.callbacks ?? []), this],
    });
  }

  /** What ran, by start time within each run. The same array until there is something new. */
  get results(): TaskData[] {
    if (this.#results === undefined || this.#parts.some((part) => part.until < part.recording.tasks.length)) {
      for (const part of this.#parts) materialize(part);
      this.#results = this.#parts.flatMap((part) => part.rows);
    }
    return this.#results;
  }

  /** Forgets everything recorded so far, also of a run that goes on. */
  clear(): void {
    this.#parts = this.#parts.filter((part) => Number.isNaN(part.recording.endTime));
    for (const part of this.#parts) {
      part.from = part.until = part.recording.tasks.length;
      part.rows = [];
    }
    this.#results = undefined;
  }

  /**
   * Writes a self-contained HTML page of what ran, a rectangle per task by worker, and returns its path.
   *
   * @throws ERR_LONGPOLE_INVALID_ARGUMENT for options that are not valid
   */
  visualize(options?: VisualizeOptions): string {
    return visualize(this, options);
  }

  override [ENTERED](): void {
    this.#fresh = true;
  }

  override [OBSERVERS](): RunObserver[] {
    return this[WATCHERS]();
  }

  override [WATCHERS](): RunWatcher[] {
    return [
      recordRun((recording) => {
        if (this.#fresh) this.clear();
        this.#fresh = false;
        this.#parts.push({ recording, from: 0, rows: [], until: 0 });
      }),
    ];
  }

  [ADD_TO](page: ProfilerTrace): void {
    page.addTasks(this.#parts);
  }
}

function materialize(part: Part): void {
  const { recording, from } = part;
  const { tasks, computation } = recording;
  if (part.until === tasks.length) return;
  part.until = tasks.length;
  part.rows = Array.from(tasks.rowsByStart(from), (row) => {
    const id = tasks.ids[row]!;
    return {
      key: computation.keys[id]!,
      task: recording.task(id),
      startTime: tasks.startTimes[row]!,
      endTime: tasks.stopTimes[row]!,
      workerId: recording.workerName(tasks.workers[row]!),
    };
  });
}
