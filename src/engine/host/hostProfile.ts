// The statistical profiler of a host's isolate. Follows the isolate when it is replaced, assigns samples to tasks, and
// pauses while the isolate is idle.

import type { TaskFunction } from '../../profile/taskPlaces.js';
import type { TaskIntervals } from '../../protocol/clusterObserver.js';
import type { CompletionColumns } from '../../protocol/completionLog.js';
import { functionOf } from '../../protocol/program.js';
import type { WorkerRun } from '../../protocol/workerMessages.js';
import type { StartedThread } from '../pool/isolateThread.js';
import { TaskIntervalLog } from '../profiler/taskIntervalLog.js';
import { ThreadProfiler } from '../profiler/threadProfiler.js';
import type { HostMeasures } from './hostMeasures.js';
import type { HostEvents, ThreadHostOptions, WorkerHost } from './hostTypes.js';

type HostProfileOptions = Pick<ThreadHostOptions, 'facts' | 'epochOffsetMs' | 'profile'>;

/** Numbers of kinds of tasks that are reserved per run, so that kinds of different runs differ. */
const KINDS_PER_RUN = 1 << 16;
/**
 * Consecutive polls without a task after which an isolate counts as idle. A single poll may fall between two short
 * tasks.
 */
const IDLE_POLLS = 10;

interface ProfiledHost extends Pick<WorkerHost, 'running'> {
  specOf(run: number): WorkerRun | undefined;
}

export class HostProfile {
  readonly #options: HostProfileOptions;
  readonly #events: HostEvents;
  readonly #measures: HostMeasures;
  readonly #host: ProfiledHost;
  readonly #log: TaskIntervalLog;
  #profiler: ThreadProfiler | undefined;
  #idlePolls = 0;
  /** Runs by number, whose tasks ran since the last report of samples, and in the period before it. */
  #recent = new Map<number, WorkerRun>();
  #earlier = new Map<number, WorkerRun>();

  constructor(options: HostProfileOptions, events: HostEvents, measures: HostMeasures, host: ProfiledHost) {
    this.#measures = measures;
    this.#host = host;
    this.#options = options;
    this.#events = events;
    // The log takes a megabyte, which a worker without a profile does not need.
    this.#log = new TaskIntervalLog(options.profile === undefined ? 0 : undefined);
  }

  /** Profiles a new isolate with a thread of this name. */
  follow(thread: string, { performance: loop }: StartedThread): void {
    const { profile, epochOffsetMs, facts } = this.#options;
    this.#profiler?.abandon();
    this.#profiler = undefined;
    if (profile === undefined || loop === undefined) return;
    this.#profiler = new ThreadProfiler({
      thread,
      loop,
      ...profile,
      epochOffsetMs,
      tasks: (start, stop) => this.#tasks(start, stop),
      taskFunction: (task) => this.#taskFunction(task),
      onCycle: (cycle) => this.#events.profile({ ...cycle, thread: facts.name }),
      // The start pauses the isolate and is not part of a task.
      onStarted: (start, stop) =>
        this.#measures.worked({ action: 'profiler', start, stop, task: -1, nbytes: 0 }),
    });
  }

  idle(): void {
    this.#profiler?.idle();
  }

  /** Called after each poll of the isolate. */
  polled(): void {
    if (this.#profiler === undefined) return;
    const { running } = this.#host;
    this.#idlePolls = running === undefined ? this.#idlePolls + 1 : 0;
    if (this.#idlePolls === 0) this.#profiler.busy();
    else if (this.#idlePolls === IDLE_POLLS) this.#profiler.idle();
    const spec = running && this.#host.specOf(running.run);
    if (spec !== undefined) this.#noteRun(spec);
  }

  finished(spec: WorkerRun, { count, ids, starts, stops }: CompletionColumns): void {
    if (this.#profiler === undefined) return;
    const { run, firstId, kinds } = spec;
    this.#noteRun(spec);
    for (let index = 0; index < count; index++) {
      const id = ids[index]!;
      const kind = run * KINDS_PER_RUN + kinds.kindOf[id]!;
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
    const { running } = this.#host;
    const spec = running && this.#host.specOf(running.run);
    const current = running && spec && { task: spec.firstId + running.id, start: running.since };
    const intervals = this.#log.between(start, stop, current);
    this.#log.forget(stop - 1);
    this.#earlier = this.#recent;
    this.#recent = new Map();
    return intervals;
  }

  /**
   * Keeps a run until the report after the next one, because reports name its tasks. Keeps nothing while no samples are
   * taken, because there is no report then.
   */
  #noteRun(spec: WorkerRun): void {
    if (this.#profiler?.isSampling === true) this.#recent.set(spec.run, spec);
  }

  #taskFunction(task: number): TaskFunction | undefined {
    for (const { firstId, program, functions } of [...this.#earlier.values(), ...this.#recent.values()]) {
      if (task < firstId || task >= firstId + program.size) continue;
      const ref = functions[functionOf(program, task - firstId)];
      if (ref === undefined) return undefined;
      return { id: JSON.stringify(ref), name: ref.name === 'lambda' ? '(anonymous)' : ref.name };
    }
    return undefined;
  }
}
