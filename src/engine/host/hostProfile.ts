// The statistical profiler of a host's isolate: follows the isolate when it is replaced, knows which task ran when, and
// does not profile while there is nothing to do.
import type { CompletionColumns } from '../../protocol/completionLog.js';
import type { ProfileSettings, TaskIntervals } from '../../protocol/profileCycle.js';
import { TaskIntervalLog } from '../profiler/taskIntervalLog.js';
import { ThreadProfiler } from '../profiler/threadProfiler.js';
import { isolateClock } from '../worker/isolateClock.js';
import type { HostEvents, HostRun, RunTask } from './hostTypes.js';

export interface HostProfileOptions {
  readonly facts: { readonly name: string };
  /** Of the worker. */
  readonly index: number;
  readonly epochOffsetMs: number;
  /** The cluster's, which another process reads through its connection. */
  readonly clock: () => number;
  readonly profile: ProfileSettings | undefined;
}

/** Numbers that tell kinds of tasks of different runs apart. */
const KINDS_PER_RUN = 1 << 16;
/** A task is seen to run at most this long after it began, in seconds. */
const LOOK_SECONDS = 0.02;
/** So many looks that find nothing make an isolate idle: between two short tasks it seems to be. */
const IDLE_LOOKS = 10;

export class HostProfile {
  readonly #options: HostProfileOptions;
  readonly #events: HostEvents;
  readonly #log: TaskIntervalLog;
  /** The clock of the isolate and of V8's samples. */
  readonly #clock: () => number;
  #lastStop = 0;
  #profiler: ThreadProfiler | undefined;
  /** What runs now, and since when, as far as known. */
  #current: { readonly task: number; readonly start: number } | undefined;
  #running: RunTask | undefined;
  #idleLooks = 0;

  constructor(options: HostProfileOptions, events: HostEvents) {
    this.#options = options;
    this.#events = events;
    this.#clock = isolateClock(options.epochOffsetMs);
    // A megabyte that a worker without a profile does not need.
    this.#log = new TaskIntervalLog(options.profile === undefined ? 0 : undefined);
  }

  /** A new isolate, whose thread has this name. */
  follow(thread: string): void {
    const { profile, epochOffsetMs, facts } = this.#options;
    if (profile === undefined) return;
    this.#profiler?.abandon();
    this.#current = undefined;
    this.#profiler = new ThreadProfiler({
      thread,
      ...profile,
      epochOffsetMs,
      tasks: (start, stop) => this.#tasks(start, stop),
      onCycle: (cycle) => this.#events.profile({ ...cycle, thread: facts.name }),
      onStarted: (start, stop) => this.#started(start, stop),
    });
  }

  /** Starting holds the isolate up, in the middle of a task: what it took is no task's. */
  #started(start: number, stop: number): void {
    const { clock, index } = this.#options;
    const ahead = clock() - this.#clock();
    this.#events.interval({
      worker: index,
      thread: 0,
      action: 'profiler',
      start: start + ahead,
      stop: stop + ahead,
      task: -1,
      nbytes: 0,
    });
  }

  idle(): void {
    this.#profiler?.idle();
  }

  /** A look at the isolate found that it runs this, or nothing. */
  running(task: RunTask | undefined, specOf: (run: number) => HostRun | undefined): void {
    if (this.#profiler === undefined) return;
    this.#idleLooks = task === undefined ? this.#idleLooks + 1 : 0;
    if (this.#idleLooks === 0) this.#profiler.busy();
    else if (this.#idleLooks === IDLE_LOOKS) this.#profiler.idle();
    if (task?.id === this.#running?.id && task?.run === this.#running?.run) return;
    this.#running = task;
    const spec = task === undefined ? undefined : specOf(task.run);
    this.#current =
      task === undefined || spec === undefined
        ? undefined
        : { task: spec.firstId + task.id, start: Math.max(this.#lastStop, this.#clock() - LOOK_SECONDS) };
  }

  finished({ run, firstId, kinds }: HostRun, { count, ids, starts, stops }: CompletionColumns): void {
    if (this.#profiler === undefined) return;
    for (let index = 0; index < count; index++) {
      const id = ids[index]!;
      if (firstId + id === this.#current?.task) this.#current = undefined;
      const kind = run * KINDS_PER_RUN + kinds.kindOf[id]!;
      this.#lastStop = stops[index]!;
      this.#log.add(starts[index]!, stops[index]!, firstId + id, kind);
    }
  }

  flush(): Promise<void> {
    return this.#profiler?.flush() ?? Promise.resolve();
  }

  /** The isolate is about to be terminated. */
  abandon(): void {
    this.#profiler?.abandon();
  }

  #tasks(start: number, stop: number): TaskIntervals {
    const intervals = this.#log.between(start, stop, this.#current);
    this.#log.forget(stop - 1);
    return intervals;
  }
}
