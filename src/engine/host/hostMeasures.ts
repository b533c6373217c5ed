// What a host measures, beside the memory and the profile of its isolate: it takes what the isolate has counted, adds what
// only it can see, and sends the changes.
import type { IsolateMeasures } from '../../protocol/isolateMessages.js';
import type { MetricChanges } from '../../protocol/metrics.js';
import type { MetricLedger } from '../metrics/metricLedger.js';
import { type Executing, UnmeasuredTime } from '../metrics/unmeasuredTime.js';
import type { WorkerDigests } from '../metrics/workerDigests.js';
import { isolateClock } from '../worker/isolateClock.js';
import type { HostEvents } from './hostTypes.js';

export interface HostMeasuresOptions {
  /** Index of the worker. */
  readonly index: number;
  readonly epochOffsetMs: number;
  readonly clock: () => number;
  readonly digests: WorkerDigests;
}

export class HostMeasures {
  readonly #options: HostMeasuresOptions;
  readonly #events: HostEvents;
  readonly #post: MetricPost;
  /** In a worker process the cluster's clock may be another. */
  readonly #isolateClock: () => number;
  /** The task time that the isolate has not told of. */
  readonly time = new UnmeasuredTime();

  constructor(options: HostMeasuresOptions, events: HostEvents) {
    this.#options = options;
    this.#events = events;
    this.#isolateClock = isolateClock(options.epochOffsetMs);
    this.#post = new MetricPost(options.digests.ledger, (changes) => {
      // What does not fit is told the next time.
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

  /** The isolate is gone: what it has not told of any more is counted here. */
  died(executing: Executing | undefined, activity: 'failed' | 'cancelled'): void {
    this.#post.add(this.time.died(executing, activity, this.#isolateClock()));
  }

  /** What has changed since the last time. */
  send(): void {
    this.#post.send();
  }
  /** Nothing is sent by itself any more. */
  close(): void {
    this.#post.close();
  }
}

// Tells of what a worker has measured: only what changed, and not for each task alone.

/** How long what tasks measured may wait for what the next ones measure, in milliseconds. */
const PATIENCE_MS = 20;

class MetricPost {
  readonly #ledger: MetricLedger;
  readonly #notify: (changes: MetricChanges) => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(ledger: MetricLedger, notify: (changes: MetricChanges) => void) {
    this.#ledger = ledger;
    this.#notify = notify;
  }

  /** Takes in what an isolate has measured; it is told soon. */
  add(changes: MetricChanges): void {
    this.#ledger.merge(changes);
    this.#timer ??= setTimeout(() => this.send(), PATIENCE_MS).unref();
  }

  /** Tells of everything now. */
  send(): void {
    this.close();
    const changes = this.#ledger.takeChanges();
    if (changes.keys.length > 0) this.#notify(changes);
  }

  /** Nothing is told by itself any more. */
  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
