// Measures how long tasks wait for shared objects, as metrics of the context `shared`: the seconds that the tasks of each
// prefix waited for an object, and for locks and semaphores also the seconds in which the object had waiting calls.
import { visibleName } from '../../../base/visibleText.js';
import { CONTENDED, HELD, SHARED_CONTEXT, WAIT_FOR } from '../../../protocol/metrics.js';
import { MetricLedger } from '../../metrics/metricLedger.js';
import type { MetricSink } from '../engineParts.js';
import { metricSamples } from '../metricSamples.js';
import type { SharedKind } from './sharedCalls.js';
import type { Caller } from './waitFor.js';

/** Milliseconds between two reports, as between the reports of workers. */
const REPORT_MS = 500;
/** Objects with separate sums. Those of further objects are summed as one object. */
const MAX_OBJECTS = 1000;

/** A call of a task that waits. */
interface Wait {
  readonly object: string;
  /** Number of leases of a lock or semaphore, all of which are in use meanwhile. 0 for other objects, which limit no number of tasks. */
  readonly leases: number;
  readonly prefix: string;
  readonly start: number;
}

export class WaitMeter {
  readonly #sink: MetricSink;
  readonly #ledger = new MetricLedger(MAX_OBJECTS);
  /** Objects with waiting calls of tasks: their number, and the time up to which the object's seconds are counted. */
  readonly #contended = new Map<string, { calls: number; since: number }>();
  readonly #waits = new Set<Wait>();
  #timer: NodeJS.Timeout | undefined;

  constructor(sink: MetricSink) {
    this.#sink = sink;
  }

  /**
   * Counts the time until `work` settles, a call that waits for the object. Returns the outcome of `work`.
   *
   * @param leases see Wait
   */
  async during<A>(
    what: SharedKind,
    name: string,
    { prefix }: Caller,
    work: Promise<A>,
    leases: number,
  ): Promise<A> {
    if (prefix === undefined || !this.#sink.hasObservers) return work;
    const object = `${what} '${visibleName(name)}'`;
    const wait: Wait = { object, leases, prefix, start: this.#sink.clock() };
    this.#waits.add(wait);
    const contended = this.#contended.get(object) ?? { calls: 0, since: wait.start };
    if (contended.calls++ === 0) this.#contended.set(object, contended);
    try {
      return await work;
    } finally {
      this.#count(wait);
    }
  }

  /** Counts a wait that has ended, unless it has been counted. */
  #count(wait: Wait): void {
    if (!this.#waits.delete(wait)) return;
    const { object, leases, prefix, start } = wait;
    const contended = this.#contended.get(object)!;
    const now = this.#sink.clock();
    this.#ledger.add([SHARED_CONTEXT, '', prefix, `${WAIT_FOR}${object}`, 'seconds'], now - start);
    const seconds = now - contended.since;
    if (leases > 0) this.#ledger.add([SHARED_CONTEXT, `${CONTENDED}${object}`, 'seconds'], seconds);
    if (leases > 1) this.#ledger.add([SHARED_CONTEXT, `${HELD}${object}`, 'seconds'], leases * seconds);
    contended.since = now;
    if (--contended.calls === 0) this.#contended.delete(object);
    this.#timer ??= setTimeout(() => this.#report(), REPORT_MS).unref();
  }

  #report(): void {
    this.#timer = undefined;
    const now = this.#sink.clock();
    for (const sample of metricSamples(this.#ledger.takeChanges(), -1, now))
      this.#sink.notify((observer) => observer.metric?.(sample));
  }

  /** Reports what has not been reported, also the waits that the close ends. */
  close(): void {
    for (const wait of this.#waits) this.#count(wait);
    clearTimeout(this.#timer);
    this.#report();
  }
}
