// The reports of an isolate to its host: values, errors and measurements.
import {
  type FromIsolate,
  type IsolateMeasures,
  NOTHING_MEASURED,
  type ToIsolate,
} from '../../protocol/isolateMessages.js';
import { packedBytes } from '../../protocol/packedResult.js';
import type { Vitals } from '../../resources/vitals.js';
import type { IsolateMetrics } from './isolateMetrics.js';
import type { IsolateRun } from './isolateRun.js';
import { notCloneable } from './notCloneable.js';
import { splitValues } from './sendValues.js';
import type { Unsent } from './unsentResults.js';

/** The isolate's connection to its host. */
export interface HostPort {
  post(message: FromIsolate): void;
  /** Returns the next waiting message without a turn of the event loop. */
  receive(): ToIsolate | undefined;
}

export interface ReportParts extends Pick<HostPort, 'post'> {
  readonly clock: () => number;
  readonly vitals: Vitals;
  /** Undefined if nothing is measured here. */
  readonly metrics: IsolateMetrics | undefined;
}

export class IsolateReports {
  readonly #parts: ReportParts;
  /** Time of the last report, in seconds since the epoch. */
  last = 0;
  #later: NodeJS.Timeout | undefined;
  #soon: { readonly number: number; readonly run: IsolateRun; readonly turn: NodeJS.Immediate } | undefined;

  constructor(parts: ReportParts) {
    this.#parts = parts;
  }

  /**
   * Sends a report in the next turn of the event loop, unless the run sends one before. Tasks elsewhere may need the finished
   * results while a task awaits, but the promises of most tasks settle at once.
   */
  soon(number: number, run: IsolateRun): void {
    if (this.#soon?.run === run) return;
    this.now();
    this.#soon = { number, run, turn: setImmediate(() => this.now()) };
  }

  /** Sends the report that `soon` has put off, if any. */
  now(): void {
    if (this.#soon !== undefined) this.report(this.#soon.number, this.#soon.run);
  }

  /** Sends a report. `idle` if no task waits. */
  report(number: number, run: IsolateRun, idle = false): void {
    if (this.#soon?.run === run) {
      clearImmediate(this.#soon.turn);
      this.#soon = undefined;
    }
    const { clock, vitals, metrics } = this.#parts;
    this.last = clock();
    vitals.refresh(this.last);
    const measures = metrics?.take(this.last, idle);
    if (!idle && metrics !== undefined) this.#measureLater(metrics);
    const measured = measures === undefined ? undefined : { measures };
    const { opening } = run;
    const { written } = run.log;
    const isNews = run.log.notify();
    if (!run.hasUnsent) {
      // An empty message would only wake the host's thread.
      if (isNews || measures !== undefined)
        this.#parts.post({ type: 'report', run: number, opening, written, ...measured });
      return;
    }
    const unsent = run.takeUnsent();
    const handed = this.#handed(unsent);
    const more =
      handed === undefined ? measured : { measures: { ...(measures ?? NOTHING_MEASURED), handed } };
    this.#send(unsent, (sendable) => ({
      type: 'report',
      run: number,
      opening,
      written,
      ...sendable,
      ...more,
    }));
  }

  /**
   * Sends measurements that arrive while no task runs, e.g. a garbage collection after the last task. `idle`: see
   * IsolateMetrics.
   */
  sendMetrics(idle = true): void {
    const { clock, metrics, post } = this.#parts;
    const measures = metrics?.take(clock(), idle);
    if (measures !== undefined) post({ type: 'measured', measures });
  }

  /** Sends the measurements of ended tasks while the next one awaits: if its isolate is replaced, they would be lost. */
  #measureLater(metrics: IsolateMetrics): void {
    const { clock } = this.#parts;
    const wake = (): void => {
      this.#later = undefined;
      // Node's timers may fire early, and another report may have been sent meanwhile.
      if (metrics.secondsLeft(clock()) > 0) this.#measureLater(metrics);
      else this.sendMetrics(false);
    };
    this.#later ??= setTimeout(wake, Math.ceil(metrics.secondsLeft(clock()) * 1000)).unref();
  }

  /** Sends results that the host has requested. */
  fetch(number: number, run: IsolateRun, ids: Int32Array): void {
    const { opening } = run;
    const { missing, ...unsent } = run.fetch(ids);
    this.#send(unsent, (sendable) => ({ type: 'fetched', run: number, opening, missing, ...sendable }));
  }

  /** Returns the measurement of results that go to the host's thread. */
  #handed({ packed: { results } }: Unsent): IsolateMeasures['handed'] {
    if (this.#parts.metrics === undefined || results.length === 0) return undefined;
    const nbytes = results.reduce((sum, one) => sum + packedBytes(one), 0);
    return { time: this.#parts.clock(), count: results.length, nbytes };
  }

  /** Posts values. If they cannot be cloned, finds the culprits and posts errors in their place. */
  #send(unsent: Unsent, message: (sendable: Unsent) => FromIsolate): void {
    try {
      this.#parts.post(message(unsent));
    } catch {
      const { values, packed, errors } = unsent;
      const { good, bad } = splitValues(values, structuredClone, notCloneable);
      this.#parts.post(message({ values: good, packed, errors: [...errors, ...bad] }));
    }
  }
}
