// The metrics of an isolate: the kinds of its tasks by run, and the times of reports. Created by the first measured
// run, so that unmeasured runs do not pay for it.
import type { IsolateMeasures } from '../../protocol/isolateMessages.js';
import type { TaskKinds } from '../../protocol/metrics.js';
import type { TaskRun } from '../../protocol/taskRun.js';
import { MetricLedger } from '../metrics/metricLedger.js';
import type { TaskMeter } from './taskMeter.js';
import { type Outcome, type TaskKind, TaskMetering } from './taskMetering.js';
import type { ThreadCpuClock } from './threadCpuClock.js';

/** Seconds between reports of a busy isolate. An idle one reports at once. */
const SEND_SECONDS = 0.5;

export class IsolateMetrics {
  readonly #ledger = new MetricLedger();
  readonly #metering: TaskMetering;
  #sent = 0;

  /** `collected` is called when a garbage collection was counted, which Node reports some time later. */
  constructor(clock: () => number, cpuClock: ThreadCpuClock | undefined, collected: () => void) {
    this.#metering = new TaskMetering(this.#ledger, clock, cpuClock, collected);
  }

  run(run: number, kinds: TaskKinds): MeteredRun {
    return new MeteredRun(run, this.#metering, kinds);
  }

  /** Returns the seconds until a busy isolate may report again. */
  secondsLeft(now: number): number {
    return Math.max(0, this.#sent + SEND_SECONDS - now);
  }

  /** Returns the measurements to send now, if any. `idle` if no task waits. */
  take(now: number, idle: boolean): IsolateMeasures | undefined {
    if (idle) this.#metering.leave();
    else if (this.secondsLeft(now) > 0) return undefined;
    else this.#metering.flush();
    this.#sent = now;
    const metrics = this.#ledger.takeChanges();
    const work = this.#metering.takeWork();
    if (metrics.keys.length === 0 && work.length === 0) return undefined;
    return { metrics, upTo: this.#ledger.hasChanges ? 0 : now, work };
  }
}

export class MeteredRun {
  readonly #run: number;
  readonly #metering: TaskMetering;
  readonly #kindOf: TaskKinds['kindOf'];
  readonly #kinds: readonly TaskKind[];
  /** Seconds of importing the modules of the run's functions that no task has counted. */
  importSeconds = 0;

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

  end(task: TaskMeter | undefined, { id, start, stop }: TaskRun, outcome: Outcome): void {
    if (task === undefined) return;
    const kind = this.#kindAt(id);
    if (task.away === undefined) this.#metering.end(task, kind, start, stop, outcome);
    else this.#metering.endSeceded(task, task.away, kind, outcome);
  }

  /** The task leaves its slot at `now`. */
  secede(task: TaskMeter | undefined, id: number, start: number, now: number): void {
    if (task !== undefined) this.#metering.secede(task, this.#kindAt(id), start, now);
  }

  /** Counts work for the task `id`, see TaskMetering. */
  beside<T>(id: number, action: 'serialize' | 'deserialize', work: () => T, nbytes: (value: T) => number): T {
    return this.#metering.beside(this.#kindAt(id), { run: this.#run, id }, action, work, nbytes);
  }

  cpuSeconds(): number {
    return this.#metering.cpuSeconds();
  }

  awaited(id: number, start: number, stop: number, idle: number, cpu: number): void {
    this.#metering.awaited({ run: this.#run, id }, start, stop, idle, cpu);
  }

  /** Starts or resumes a batch at the task `id`. The import of the run's modules counts for the first such task. */
  enterBatch(id: number): void {
    this.#metering.imported(this.#kindAt(id), this.importSeconds);
    this.importSeconds = 0;
    this.#metering.enterBatch();
  }

  /** Counts the batch up to `now`. Time outside tasks counts for the kind of the task `id`. */
  leaveBatch(id: number, now: number): void {
    this.#metering.leaveBatch(this.#kindAt(id), now);
  }

  #kindAt(id: number): TaskKind {
    return this.#kinds[this.#kindOf[id]!]!;
  }
}
