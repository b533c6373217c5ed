// The model of a trace's task stream: a row per thread of a worker, runs coloured by prefix, and activities between
// them in the colours of Dask's task stream.

import { cutOffTexts } from '../../analysis/cutOff.js';
import { eachUse } from '../../analysis/lanes.js';
import { repeatedCount } from '../../analysis/submissionTimes.js';
import { taskCount } from '../../analysis/taskCounts.js';
import { failedTaskCount } from '../../analysis/taskErrors.js';
import { unfinishedRuns } from '../../analysis/unfinishedRuns.js';
import { existsSince, mostTogether } from '../../analysis/workerLives.js';
import { getOrMake, rangeOf } from '../../base/lookUps.js';
import { ACTIONS, TASK_ERRED } from '../../protocol/clusterObserver.js';
import type { RunningRow } from '../../protocol/viewMessages.js';
import { cacheStaysOf } from '../../trace/localMetrics.js';
import { type TaskRows, TRANSFER_KINDS, type Trace, textOf, workerName } from '../../trace/trace.js';
import { lifecycleFacts } from './lifecycle.js';
import { ACTIVITIES, ACTIVITY_SLOTS, prefixSlots, RUNNING } from './palette.js';
import { buildModel, type ProfileModel } from './profileModel.js';
import type { CacheSection, PartialUse, SectionPage, StringList } from './sections.js';
import type { TimeWindow } from './timeView.js';

export interface TraceModelOptions {
  readonly title: string;
  /** Epoch seconds of time 0; default: the first event. */
  readonly origin?: number | undefined;
  readonly running?: readonly RunningRow[] | undefined;
  /** Number of workers that a live cluster has now. */
  readonly connected?: number | undefined;
  /** Epoch seconds up to which running tasks are drawn. */
  readonly now?: number | undefined;
}

function emptyText(trace: Trace): string {
  const cutOff = cutOffTexts(trace);
  return cutOff.length > 0
    ? `No task ended. ${cutOff.join(' ')}`
    : 'No task has run yet. Start tasks with compute, client.submit or client.map.';
}

/** Rows of a running computation always arrive a little after its totals: up to this number, or this share of the runs. */
const FEW_MISSING = 5000;
const SHARE_MISSING = 0.2;

const GATHER = TRANSFER_KINDS.indexOf('gather-dep');
const TRANSFER = ACTIONS.indexOf('transfer');

/** Returns the model. Rows of its task table are first those of `trace.tasks`, then intervals, then running tasks. */
export function traceModel(trace: Trace, options: TraceModelOptions): ProfileModel {
  return new ModelBuilder(trace, options).build();
}

class ModelBuilder {
  readonly #trace: Trace;
  readonly #options: TraceModelOptions;
  readonly #prefixes: SectionPage['prefixes'][number][] = [];
  /** Slot of a prefix, the same on every page. */
  readonly #slotOf: (prefix: string) => number;
  readonly #byName = new Map<string, number>();
  readonly #threads: SectionPage['workers'][number][] = [];
  readonly #partial: PartialUse[] = [];
  readonly #threadRows = new Map<number, number>();
  readonly #task: Uint32Array;
  readonly #worker: Uint32Array;
  readonly #start: Float64Array;
  readonly #stop: Float64Array;
  readonly #prefix: Uint32Array;
  readonly #keys: string[] = [];
  /** End of the run, as in the analyses; epoch seconds. */
  #last = Number.NEGATIVE_INFINITY;
  #entries = 0;
  /** First entries of the activities and of the running tasks. */
  #firstActivity = 0;
  #firstRunning = 0;
  #rows: number;

  constructor(trace: Trace, options: TraceModelOptions) {
    this.#trace = trace;
    this.#options = options;
    this.#slotOf = prefixSlots(trace);
    this.#rows = trace.tasks.length;
    const { tasks, intervals, transfers } = trace;
    const twice = 2 * tasks.seceded.reduce((count, time) => (Number.isNaN(time) ? count : count + 1), 0);
    const most = tasks.length + twice + intervals.length + transfers.length + (options.running?.length ?? 0);
    this.#task = new Uint32Array(most);
    this.#worker = new Uint32Array(most);
    this.#start = new Float64Array(most);
    this.#stop = new Float64Array(most);
    this.#prefix = new Uint32Array(most);
  }

  build(): ProfileModel {
    this.#addThreads();
    this.#addTasks();
    this.#firstActivity = this.#entries;
    this.#addIntervals();
    this.#firstRunning = this.#entries;
    this.#addRunning();
    const { tasks, strings } = this.#trace;
    const entries = this.#entries;
    const others = this.#keys;
    const [from, to] = [this.#firstActivity, this.#firstRunning];
    const keys: StringList = {
      length: this.#rows,
      at: (row) => (row < tasks.length ? tasks.keyOf(row) : others[row - tasks.length]),
    };
    const texts: StringList = {
      length: this.#rows,
      at: (row) => (row < tasks.length && tasks.call[row]! >= 0 ? strings.get(tasks.call[row]!) : ''),
    };
    const model = buildModel({
      title: this.#options.title,
      workers: this.#threads,
      tasks: { keys, prefix: this.#prefix, texts },
      prefixes: this.#prefixes,
      stream: {
        task: this.#task.subarray(0, entries),
        worker: this.#worker.subarray(0, entries),
        start: this.#start.subarray(0, entries),
        stop: this.#stop.subarray(0, entries),
      },
      isActivity: (entry) => entry >= from && entry < to,
      partial: this.#partial,
      caches: this.#cacheSections(),
      origin: this.#options.origin,
      fallback: () => extentOfMeasurements(this.#trace),
      run: this.#run(),
    });
    return {
      ...model,
      taskCount: taskCount(this.#trace),
      // Without a table of workers, all threads are those of one worker.
      workerCount:
        this.#trace.workers.length > 0
          ? mostTogether(this.#trace, () => 1)
          : Math.min(1, this.#threads.length),
      failedCount: failedTaskCount(this.#trace),
      repeatedCount: repeatedCount(this.#trace),
      connectedCount: this.#options.connected,
      receiving: this.#receiving(),
      factsOf: (row) => lifecycleFacts(this.#trace, row),
      prefixOf: (row) => (tasks.state[row] === TASK_ERRED ? this.#nameOf(tasks.prefix[row]!) : undefined),
      emptyStream: emptyText(this.#trace),
    };
  }

  /** A page that opens late receives the totals at once, and the rows piece by piece. */
  #receiving(): ProfileModel['receiving'] {
    const { tasks, evicted, totals } = this.#trace;
    const runs = totals.states.reduce((sum, count) => sum + count, 0);
    const kept = runs - evicted.tasks;
    const missing = kept - tasks.length;
    const isEarly =
      tasks.length === 0 ? missing > 0 : missing > FEW_MISSING && missing > kept * SHARE_MISSING;
    return isEarly ? { runs, received: tasks.length } : undefined;
  }

  #cacheSections(): CacheSection[] {
    const all = cacheStaysOf(this.#trace);
    if (all.length === 0) return [];
    const rows = new Map(Array.from(this.#trace.tasks.id, (id, row) => [id, row]));
    const prefixIndex = this.#prefixIndices();
    return all.map(({ metricName, stays }) => ({
      metricName,
      task: Int32Array.from(stays, ({ task }) => rows.get(task) ?? -1),
      prefix: Uint32Array.from(stays, ({ prefix }) => prefixIndex(prefix)),
      cacheTime: Float64Array.from(stays, ({ cacheTime }) => cacheTime),
      freeTime: Float64Array.from(stays, ({ freeTime }) => freeTime),
      metric: Float64Array.from(stays, ({ metric }) => metric),
    }));
  }

  #run(): TimeWindow | undefined {
    const { running = [], now } = this.#options;
    const start = running.reduce((least, { started }) => Math.min(least, started), runStart(this.#trace));
    // A run without result, e.g. until a timeout, may be the last.
    const last = Math.max(this.#last, unfinishedRuns(this.#trace)[0]?.stop ?? this.#last);
    const stop = running.length > 0 ? Math.max(last, now ?? last) : last;
    return stop > start ? { start, stop } : undefined;
  }

  /** Adds all threads of all workers, including idle threads. */
  #addThreads(): void {
    const { workers } = this.#trace;
    for (let worker = 0; worker < workers.length; worker++) {
      const threads = this.#threadCount(worker);
      for (let thread = 0; thread < threads; thread++) this.#threadOf(worker, thread, threads > 1);
    }
  }

  #threadCount(worker: number): number {
    return Math.min(1024, Math.max(1, this.#trace.workers.threads[worker] || 1));
  }

  #threadOf(worker: number, thread: number, several = thread > 0): number {
    const at = (worker + 1) * 4096 + Math.max(0, thread);
    return getOrMake(this.#threadRows, at, () => {
      const text = worker < 0 ? `worker ${worker}` : workerName(this.#trace, worker);
      const { stopped } = this.#trace.workers;
      // Both are NaN if the trace does not record them.
      const life = {
        start: existsSince(this.#trace)[worker] || Number.NEGATIVE_INFINITY,
        stop: stopped[worker] || Number.POSITIVE_INFINITY,
      };
      return this.#threads.push({ name: several ? `${text} · ${thread}` : text, life }) - 1;
    });
  }

  #prefixOf(name: string, slot: number): number {
    const id = `${name}\0${slot}`;
    return getOrMake(this.#byName, id, () => this.#prefixes.push({ name, slot }) - 1);
  }

  /** Returns a function from ids of prefixes to indices in `#prefixes`, which reads each text once. */
  #prefixIndices(): (id: number) => number {
    const known = new Map<number, number>();
    return (id) =>
      getOrMake(known, id, () => {
        const name = this.#nameOf(id);
        return this.#prefixOf(name, this.#slotOf(name));
      });
  }

  #nameOf(prefix: number): string {
    return textOf(this.#trace.strings, prefix);
  }

  #add(row: number, prefix: number, thread: number, start: number, stop: number): void {
    const entry = this.#entries++;
    this.#prefix[row] = prefix;
    this.#task[entry] = row;
    this.#worker[entry] = thread;
    this.#start[entry] = start;
    this.#stop[entry] = stop;
  }

  #addTasks(): void {
    const { tasks } = this.#trace;
    const { length, started, stopped, acknowledged, state, prefix, worker, thread } = tasks;
    const indexOf = this.#prefixIndices();
    const erred = (): number => this.#prefixOf('erred', ACTIVITY_SLOTS.erred);
    let [lastWorker, lastThread, at] = [-2, -2, 0];
    for (let row = 0; row < length; row++) {
      if (!(stopped[row]! >= started[row]!)) continue;
      this.#last = Math.max(this.#last, stopped[row]!);
      // NaN if the trace lacks it.
      if (acknowledged[row]! > this.#last) this.#last = acknowledged[row]!;
      const index = indexOf(prefix[row]!);
      if (worker[row] !== lastWorker || thread[row] !== lastThread) {
        lastWorker = worker[row]!;
        lastThread = thread[row]!;
        at = this.#threadOf(lastWorker, lastThread);
      }
      const shown = state[row] === TASK_ERRED ? erred() : index;
      eachUse(this.#trace, row, (start, stop, share) => {
        // Of a seceded task, only the parts in which it mostly used its thread are drawn.
        const isDrawn = share >= 0.5;
        if (isDrawn) this.#add(row, shown, at, start, stop);
        if (share < 1)
          this.#partial.push({ worker: at, prefix: shown, start, stop, share: isDrawn ? share - 1 : share });
      });
    }
  }

  #addIntervals(): void {
    const { intervals, transfers } = this.#trace;
    const { length, worker, thread, action, start, stop } = intervals;
    let gathers = false;
    for (let row = 0; row < length; row++) {
      const activity = ACTIVITIES[ACTIONS[action[row]!] ?? ''];
      if (activity === undefined || !(stop[row]! >= start[row]!)) continue;
      gathers ||= action[row] === TRANSFER;
      const lane = this.#threadOf(worker[row]!, thread[row]!);
      this.#addOther('', this.#prefixOf(...activity), lane, start[row]!, stop[row]!);
    }
    if (gathers) return;
    // The source records transfers without intervals. A worker's transfers are drawn on its first thread.
    for (let row = 0; row < transfers.length; row++) {
      if (transfers.direction[row] !== 0 || transfers.what[row] !== GATHER) continue;
      const gather = this.#prefixOf('gather dependencies', ACTIVITY_SLOTS.gather);
      const lane = this.#threadOf(transfers.worker[row]!, 0);
      this.#addOther('', gather, lane, transfers.start[row]!, transfers.stop[row]!);
    }
  }

  #addRunning(): void {
    const { running = [], now } = this.#options;
    const ended = latestIds(this.#trace);
    // A task may have ended since the scheduler reported it as running.
    const rows = running.filter(({ id }) => !ended.has(id)).sort((a, b) => a.started - b.started);
    const busyUntil = this.#busyUntil();
    for (const { key, prefix, worker, started } of rows) {
      const index = this.#prefixOf(`${prefix} (running)`, RUNNING + this.#slotOf(prefix));
      const thread = this.#freeThread(worker, started, busyUntil);
      busyUntil[thread] = Number.POSITIVE_INFINITY;
      this.#addOther(key, index, thread, started, Math.max(started, now ?? started));
    }
  }

  /** Returns when each thread ended its last task. */
  #busyUntil(): Float64Array {
    const until = new Float64Array(this.#threads.length).fill(Number.NEGATIVE_INFINITY);
    for (let entry = 0; entry < this.#firstActivity; entry++) {
      const thread = this.#worker[entry]!;
      until[thread] = Math.max(until[thread]!, this.#stop[entry]!);
    }
    return until;
  }

  /** Returns the thread of a running task, which no source reports: the one that became free last before the start. */
  #freeThread(worker: number, started: number, busyUntil: Float64Array): number {
    const threads = Array.from({ length: this.#threadCount(worker) }, (_, thread) =>
      this.#threadOf(worker, thread),
    );
    const overlap = (thread: number): number => Math.max(0, busyUntil[thread]! - started);
    return threads.reduce((best, thread) => {
      const difference = overlap(thread) - overlap(best);
      return difference < 0 || (difference === 0 && busyUntil[thread]! > busyUntil[best]!) ? thread : best;
    });
  }

  #addOther(key: string, prefix: number, thread: number, start: number, stop: number): void {
    if (!(stop >= start)) return;
    this.#add(this.#rows++, prefix, thread, start, stop);
    this.#keys.push(key);
  }
}

/** Returns the time of the measurements, or else of the events, e.g. of a program without tasks, or else one second. */
function extentOfMeasurements(trace: Trace): TimeWindow {
  const { memory, resources, samples, metrics, intervals, events } = trace;
  const sampled = [memory, resources, samples, metrics].map(({ time }) => time);
  const range = rangeOf(...sampled, intervals.start, intervals.stop);
  if (range.start <= range.stop) return range;
  const ofEvents = rangeOf(events.time);
  return ofEvents.start < ofEvents.stop ? ofEvents : { start: 0, stop: 1 };
}

/** Newest rows to search for tasks that the scheduler still reports as running. */
const RECENT = 20_000;

function latestIds({ tasks }: Trace): Set<number> {
  return new Set(tasks.id.subarray(Math.max(0, tasks.length - RECENT)));
}

/** Returns the row of a run in a later trace of the same program; -1 without it. The runs of a repeated task have the same id. */
export function laterRow(
  before: Pick<TaskRows, 'id' | 'started'>,
  row: number,
  later: typeof before,
): number {
  const [id, started] = [before.id[row]!, before.started[row]!];
  let found = later.id.indexOf(id);
  while (found >= 0 && !Object.is(later.started[found], started)) found = later.id.indexOf(id, found + 1);
  return found;
}

/**
 * Returns the beginning of the run in epoch seconds: the program's first call that made tasks, or else the first
 * submission or start of a task. Returns Infinity without tasks.
 */
export function runStart({ tasks, computations }: Trace): number {
  const { length, started, submitted, computation } = tasks;
  let [first, last] = [Number.POSITIVE_INFINITY, -1];
  for (let row = 0; row < length; row++) {
    // Times are NaN if the trace lacks them.
    if (started[row]! < first) first = started[row]!;
    if (submitted[row]! < first) first = submitted[row]!;
    if (computation[row] === last) continue;
    last = computation[row]!;
    const called = computations[last]?.start ?? Number.NaN;
    if (called < first) first = called;
  }
  return first;
}
