// The metrics of an isolate: what its tasks are counted under, run by run, and when changes are sent. Made with the first
// run that wants them, so that runs which nobody measures do not pay.
import type { IsolateMeasures } from '../../protocol/isolateMessages.js';
import type { TaskKinds } from '../../protocol/taskKinds.js';
import { MetricLedger } from '../metrics/metricLedger.js';
import { within } from '../within.js';
import { runQueueClock } from './runQueueClock.js';
import type { TaskMeter } from './taskMeter.js';
import { type Outcome, type TaskKind, TaskMetering } from './taskMetering.js';
import { type ThreadCpuClock, threadCpuClock } from './threadCpuClock.js';

/** A busy isolate sends its metrics this often, in seconds; one that has nothing more to do sends them at once. */
const SEND_SECONDS = 0.5;
/** How long tasks wait for the CPU clock, in milliseconds. Loading it takes 10 to 50; without it they are measured less exactly. */
const LOADING_MS = 5000;

export class IsolateMetrics {
  readonly #ledger = new MetricLedger();
  readonly #metering: TaskMetering;
  #sent = 0;
  /** Resolves when the CPU clock is there, there is none, or its loading takes too long; undefined: it has. */
  loading: Promise<void> | undefined;

  /**
   * `collected` is called when a garbage collection was counted, which Node tells of some time after it; `useCpuClock` once the
   * CPU clock is there.
   */
  constructor(clock: () => number, collected: () => void, useCpuClock: (cpuClock: ThreadCpuClock) => void) {
    this.#metering = new TaskMetering(this.#ledger, clock, undefined, collected, runQueueClock());
    const loaded = threadCpuClock().then((cpuClock) => {
      if (cpuClock === undefined) return;
      this.#metering.useCpuClock(cpuClock);
      useCpuClock(cpuClock);
    });
    this.loading = within(LOADING_MS, loaded).then(() => {
      this.loading = undefined;
    });
  }

  run(run: number, kinds: TaskKinds): MeteredRun {
    return new MeteredRun(run, this.#metering, kinds);
  }

  /** What is to be sent now, if anything is. `idle`: no task waits. */
  take(now: number, idle: boolean): IsolateMeasures | undefined {
    if (idle) this.#metering.leave();
    else if (now - this.#sent < SEND_SECONDS) return undefined;
    else this.#metering.flush();
    this.#sent = now;
    const metrics = this.#ledger.takeChanges();
    const work = this.#metering.takeWork();
    if (metrics.keys.length === 0 && work.length === 0) return undefined;
    return { metrics, upTo: this.#ledger.hasChanges ? 0 : now, work };
  }
}

/** The tasks of one run. */
export class MeteredRun {
  readonly #run: number;
  readonly #metering: TaskMetering;
  readonly #kindOf: Int32Array;
  readonly #kinds: readonly TaskKind[];

  constructor(run: number, metering: TaskMetering, { kindOf, kinds }: TaskKinds) {
    this.#run = run;
    this.#metering = metering;
    this.#kindOf = kindOf;
    this.#kinds = kinds.map(({ prefix, span }) => metering.kind(prefix, span));
  }

  begin(id: number, start: number): TaskMeter {
    const kind = this.#kindAt(id);
    const task = this.#metering.begin(kind, start);
    task.run = this.#run;
    task.id = id;
    task.prefix = kind.prefix;
    return task;
  }

  /** Returns the seconds in which the task waited for a core; NaN: not known. */
  end(task: TaskMeter | undefined, id: number, start: number, stop: number, outcome: Outcome): number {
    if (task === undefined) return Number.NaN;
    return this.#metering.end(task, this.#kindAt(id), start, stop, outcome);
  }

  /** See TaskMetering: counts as work for the task `id`. */
  beside<T>(id: number, action: 'serialize' | 'deserialize', work: () => T, nbytes: (value: T) => number): T {
    return this.#metering.beside(this.#kindAt(id), { run: this.#run, id }, action, work, nbytes);
  }

  cpuSeconds(): number {
    return this.#metering.cpuSeconds();
  }

  awaited(id: number, start: number, stop: number, idle: number, cpu: number): void {
    this.#metering.awaited({ run: this.#run, id }, start, stop, idle, cpu);
  }

  enterBatch(): void {
    this.#metering.enterBatch();
  }

  /** Up to `now`; what belongs to no task counts for the kind of the task `id`. */
  leaveBatch(id: number, now: number): void {
    this.#metering.leaveBatch(this.#kindAt(id), now);
  }

  #kindAt(id: number): TaskKind {
    return this.#kinds[this.#kindOf[id]!]!;
  }
}
