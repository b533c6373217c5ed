// The task profiler: a view of the recordings of runs. The objects of `results` are created when it is read, not during
// a run.
import { invalidArgument } from '../base/errors.js';
import type { Graph, Keys } from '../protocol/graph.js';
import type { RunWatcher } from '../protocol/runObserver.js';
import { WATCHERS } from './callback.js';
import { type CallbackLike, callbackList } from './callbackObservers.js';
import { ADD_TO, type ProfilerTrace } from './profilerTrace.js';
import { RunProfiler } from './runProfiler.js';
import { type RunRecording, recordRun } from './runRecording.js';

/** One finished task. Times are seconds since the epoch on the clock of the worker. */
export interface TaskData {
  readonly key: string;
  /** The task in the graph, e.g. `[add, 1, 2]`. */
  readonly task: unknown;
  readonly startTime: number;
  readonly endTime: number;
  /** Name of the worker, e.g. `threads-0`. */
  readonly workerId: string;
}

/** Options that `Profiler.get` passes to its scheduler. */
export interface GetOptions {
  readonly callbacks?: CallbackLike | readonly CallbackLike[] | undefined;
}

/** A scheduler: `getSync`, `getThreaded` or `getMultiprocessing`. */
export type GetFunction<R> = (graph: Graph, keys: Keys, options?: GetOptions) => R;

/** The rows of one run since the last `clear()`. */
interface Part {
  readonly recording: RunRecording;
  from: number;
  /** Objects of the rows `from .. until`. */
  rows: readonly TaskData[];
  until: number;
}

/**
 * Records key, task, start and end time and worker of every task.
 *
 *     { using prof = new Profiler(); getSync(graph, 'c'); console.table(prof.results); }
 *
 * Results of several runs accumulate until `clear()`. The first run in a new `using` block clears the results of
 * earlier blocks. Results include the finished tasks of a failed run. Cost: a few array copies per batch of tasks. The
 * profiler keeps the graph of every run until it is cleared. It never keeps the results of tasks.
 *
 * @source Dask's `dask.diagnostics.Profiler`; the form with a scheduler is that of its first version
 */
export class Profiler<R = unknown> extends RunProfiler {
  readonly #get: GetFunction<R> | undefined;
  #parts: Part[] = [];
  #results: TaskData[] | undefined;

  /**
   * @param get scheduler that the method `get` runs, e.g. `getThreaded`. Without it, the method `get` throws; activate
   *   such a profiler with `using`, `register()` or the option `callbacks`.
   * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT if `get` is not a function
   */
  constructor(get?: GetFunction<R>) {
    super('task');
    if (get !== undefined && typeof get !== 'function') {
      throw invalidArgument(
        `new Profiler(get): get must be a scheduler such as getThreaded, not ${typeof get}.`,
      );
    }
    this.#get = get;
    // Programs pass the method alone: `compute({ get: profiler.get })`.
    this.get = this.get.bind(this);
  }

  /**
   * Runs the scheduler of the profiler and records the run: `new Profiler(getThreaded).get(graph, keys)`.
   *
   * @param options options of the scheduler
   * @returns the return value of the scheduler
   * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT if the profiler has no scheduler; the errors of the scheduler
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

  /** Finished tasks, ordered by start time within each run. The same array until there are new tasks. */
  override get results(): TaskData[] {
    if (this.#results === undefined || this.#parts.some((part) => part.until < part.recording.tasks.length)) {
      for (const part of this.#parts) materialize(part);
      this.#results = this.#parts.flatMap((part) => part.rows);
    }
    return this.#results;
  }

  /** Removes all results so far, including those of a run in progress. */
  clear(): void {
    this.#parts = this.#parts.filter((part) => Number.isNaN(part.recording.endTime));
    for (const part of this.#parts) {
      part.from = part.until = part.recording.tasks.length;
      part.rows = [];
    }
    this.#results = undefined;
  }

  override [WATCHERS](): RunWatcher[] {
    return [
      recordRun((recording) => {
        this.runBegins(() => this.clear());
        this.#parts.push({ recording, from: 0, rows: [], until: 0 });
      }),
    ];
  }

  override [ADD_TO](page: ProfilerTrace): void {
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
