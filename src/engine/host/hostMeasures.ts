// The metrics of a host, without its memory and profile. Merges the isolate's metrics with those that only the host can
// measure, and sends the changes.
import type { IsolateMeasures } from '../../protocol/isolateMessages.js';
import type { MetricChanges } from '../../protocol/metrics.js';
import type { ExecutingTask } from '../../protocol/workerMessages.js';
import type { MetricLedger } from '../metrics/metricLedger.js';
import { UnmeasuredTime } from '../metrics/unmeasuredTime.js';
import { isolateClock } from '../worker/isolateClock.js';
import type { HostEvents } from './hostTypes.js';
import type { ThreadHostOptions } from './threadHostOptions.js';

export type HostMeasuresOptions = Pick<ThreadHostOptions, 'index' | 'epochOffsetMs' | 'clock' | 'digests'>;

export class HostMeasures {
  readonly #options: HostMeasuresOptions;
  readonly #events: HostEvents;
  readonly #post: MetricPost;
  /** The isolate's clock. It may differ from the cluster's clock in a worker process. */
  readonly #isolateClock: () => number;
  /** Task time that the isolate has not reported. */
  readonly time = new UnmeasuredTime();

  constructor(options: HostMeasuresOptions, events: HostEvents) {
    this.#options = options;
    this.#events = events;
    this.#isolateClock = isolateClock(options.epochOffsetMs);
    this.#post = new MetricPost(options.digests.ledger, (changes) => {
      // Changes that do not fit are sent the next time.
      events.metrics(changes, options.digests.ledger.hasChanges ? 0 : this.time.measuredUpTo);
    });
  }

  take(
    { metrics, upTo, work, handed, output = [] }: IsolateMeasures,
    firstIdOf: (run: number) => number | undefined,
  ): void {
    const { digests, index, clock } = this.#options;
    if (handed !== undefined) digests.handedOver(handed, this.#isolateClock() - handed.time);
    const ahead = work.length === 0 ? 0 : clock() - this.#isolateClock();
    for (const { action, start, stop, run, id, nbytes } of work) {
      const firstId = firstIdOf(run);
      this.#events.interval({
        worker: index,
        thread: 0,
        action,
        start: start + ahead,
        stop: stop + ahead,
        task: firstId === undefined ? -1 : firstId + id,
        nbytes,
      });
    }
    for (const { topic, text, run, id } of output) this.#events.event(topic, text, { run, id });
    this.time.measured(upTo);
    this.#post.add(metrics);
  }

  /** Adds the task time that a dead isolate has not reported. */
  died(executing: ExecutingTask | undefined, activity: 'failed' | 'cancelled'): void {
    this.#post.add(this.time.died(executing, activity, this.#isolateClock()));
  }

  /** Sends the changes since the last call. */
  send(): void {
    this.#post.send();
  }
  /** Stops the timer of the next send. */
  close(): void {
    this.#post.close();
  }
}

// Sends changed metrics only, for several tasks together.

/** Time for which metrics wait for those of the next tasks, in milliseconds. */
const PATIENCE_MS = 20;

class MetricPost {
  readonly #ledger: MetricLedger;
  readonly #notify: (changes: MetricChanges) => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(ledger: MetricLedger, notify: (changes: MetricChanges) => void) {
    this.#ledger = ledger;
    this.#notify = notify;
  }

  /** Merges metrics of an isolate and schedules a send. */
  add(changes: MetricChanges): void {
    this.#ledger.merge(changes);
    this.#timer ??= setTimeout(() => this.send(), PATIENCE_MS).unref();
  }

  /** Sends all changes now. */
  send(): void {
    this.close();
    const changes = this.#ledger.takeChanges();
    if (changes.keys.length > 0) this.#notify(changes);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
