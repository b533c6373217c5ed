// The metrics of a host, without its memory and profile. Merges the isolate's metrics with those that only the host can
// measure, and sends the changes.
import type { WorkInterval } from '../../protocol/clusterObserver.js';
import type { IsolateMeasures } from '../../protocol/isolateMessages.js';
import type { MetricChanges } from '../../protocol/metrics.js';
import type { ExecutingTask, WorkerRun } from '../../protocol/workerMessages.js';
import { UnmeasuredTime } from '../metrics/unmeasuredTime.js';
import { isolateClock } from '../worker/isolateClock.js';
import type { HostEvents, ThreadHostOptions } from './hostTypes.js';

export type HostMeasuresOptions = Pick<ThreadHostOptions, 'index' | 'epochOffsetMs' | 'clock' | 'digests'>;

/** Time for which metrics wait for those of the next tasks, in milliseconds. */
const PATIENCE_MS = 20;
/** Number of closed runs whose last measures may still arrive. */
const CLOSED_RUNS = 1000;

export class HostMeasures {
  readonly #options: HostMeasuresOptions;
  readonly #events: Pick<HostEvents, 'interval' | 'event' | 'metrics'>;
  #timer: NodeJS.Timeout | undefined;
  /** The isolate's clock. It may differ from the cluster's clock in a worker process. */
  readonly #isolateClock: () => number;
  /** Task time that the isolate has not reported. */
  readonly time = new UnmeasuredTime();
  /** Id of the first task by run. */
  readonly #firstIds = new Map<number, number>();
  readonly #closed: number[] = [];

  constructor(options: HostMeasuresOptions, events: Pick<HostEvents, 'interval' | 'event' | 'metrics'>) {
    this.#options = options;
    this.#events = events;
    this.#isolateClock = isolateClock(options.epochOffsetMs);
  }

  opened({ run, firstId, kinds }: Pick<WorkerRun, 'run' | 'firstId' | 'kinds'>): void {
    this.#firstIds.set(run, firstId);
    this.time.opened(run, kinds);
  }

  /** Closes a run. `executing` if a task of it has not ended. The isolate may report more measures of its tasks. */
  closed(run: number, executing: boolean): void {
    this.time.closed(run, executing);
    this.#closed.push(run);
    if (this.#closed.length > CLOSED_RUNS) this.#firstIds.delete(this.#closed.shift() ?? run);
  }

  take({ metrics, upTo, work, handed, output = [] }: IsolateMeasures): void {
    const { digests } = this.#options;
    if (handed !== undefined) digests.handedOver(handed, this.#isolateClock() - handed.time);
    for (const { action, start, stop, run, id, nbytes } of work) {
      const firstId = this.#firstIds.get(run);
      this.worked({ action, start, stop, task: firstId === undefined ? -1 : firstId + id, nbytes });
    }
    for (const { topic, text, run, id } of output) this.#events.event(topic, text, { run, id });
    this.time.measured(upTo);
    this.#add(metrics);
  }

  /** Reports work on the isolate's thread as an interval. Its times are those of the isolate's clock. */
  worked({ start, stop, ...work }: Omit<WorkInterval, 'worker' | 'thread'>): void {
    const { clock, index } = this.#options;
    const ahead = clock() - this.#isolateClock();
    this.#events.interval({ ...work, worker: index, thread: 0, start: start + ahead, stop: stop + ahead });
  }

  /** Adds the task time that a dead isolate has not reported. */
  died(executing: ExecutingTask | undefined, activity: 'failed' | 'cancelled'): void {
    this.#add(this.time.died(executing, activity, this.#isolateClock()));
  }

  /** Merges metrics and schedules a send, which has the changed metrics of several tasks. */
  #add(changes: MetricChanges): void {
    this.#options.digests.ledger.merge(changes);
    this.#timer ??= setTimeout(() => this.send(), PATIENCE_MS).unref();
  }

  /** Sends the changes since the last call. */
  send(): void {
    this.close();
    const { ledger } = this.#options.digests;
    const changes = ledger.takeChanges();
    // Changes that do not fit are sent the next time.
    if (changes.keys.length > 0)
      this.#events.metrics(changes, ledger.hasChanges ? 0 : this.time.measuredUpTo);
  }

  /** Stops the timer of the next send. */
  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
