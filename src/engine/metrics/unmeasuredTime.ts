// The time of tasks whose measurements have not arrived. An isolate sends measurements twice a second, and its death
// loses the unsent ones. The receiver of completions keeps the tasks' time here until the measurements arrive, so
// that no second is lost.
import type { CompletionColumns } from '../../protocol/completionLog.js';
import { type MetricChanges, spanId, type TaskKind, type TaskKinds } from '../../protocol/metrics.js';
import type { ExecutingTask } from '../../protocol/workerMessages.js';
import { MetricLedger } from './metricLedger.js';

/** Length of a slice. Completions are kept by the millisecond, because measurements end between two of them. */
const SLICE_SECONDS = 1e-3;
/** Limit beyond which the last slice grows: ~1 s of short tasks, twice the usual maximum. */
const MAX_SLICES = 1000;

/** Tasks that ended in the same millisecond. */
interface Slice {
  readonly start: number;
  readonly end: number;
  /** Time at which the isolate received the first of these tasks. */
  readonly received: number;
  readonly seconds: Map<TaskKind, number>;
}

export class UnmeasuredTime {
  readonly #kinds = new Map<number, TaskKinds>();
  /** A run that was closed while the isolate had a task of it. */
  #leaving: { readonly run: number; readonly kinds: TaskKinds } | undefined;
  #slices: Slice[] = [];
  measuredUpTo = 0;
  #lastStop = 0;

  opened(run: number, kinds: TaskKinds): void {
    this.#kinds.set(run, kinds);
  }

  /** Closes a run. `executing` if a task of it has not ended. */
  closed(run: number, executing: boolean): void {
    const kinds = this.#kinds.get(run);
    if (kinds !== undefined && executing) this.#leaving = { run, kinds };
    this.#kinds.delete(run);
  }

  /** Records finished tasks. Cost: ~20 ns each. */
  ended(run: number, { count, ids, received, starts, stops }: CompletionColumns): void {
    const known = this.#kindsOf(run);
    if (known === undefined) return;
    const { kinds, kindOf } = known;
    let slice: Slice | undefined;
    for (let index = 0; index < count; index++) {
      const stop = stops[index]!;
      if (stop > this.#lastStop) this.#lastStop = stop;
      const kind = kinds[kindOf[ids[index]!]!];
      if (stop <= this.measuredUpTo || kind === undefined) continue;
      if (slice === undefined || stop >= slice.end) slice = this.#sliceFor(stop, received[index]!);
      slice.seconds.set(kind, (slice.seconds.get(kind) ?? 0) + stop - starts[index]!);
    }
  }

  /** Records that the measurements of all tasks that ended up to this time, on the isolate's clock, have arrived. */
  measured(upTo: number): void {
    if (!(upTo > this.measuredUpTo)) return;
    this.measuredUpTo = upTo;
    let gone = 0;
    while (gone < this.#slices.length && this.#slices[gone]!.start <= upTo) gone++;
    if (gone > 0) this.#slices.splice(0, gone);
  }

  /**
   * Returns the unmeasured time of an isolate that died at `now` on its clock. Finished tasks count as `other`,
   * because their activities are unknown. The running task has failed or was cancelled. The time between tasks is the
   * worker's own work.
   */
  died(
    executing: Omit<ExecutingTask, 'batch'> | undefined,
    activity: 'failed' | 'cancelled',
    now: number,
  ): MetricChanges {
    const ledger = new MetricLedger();
    const add = ({ span, prefix }: TaskKind, doing: string, seconds: number): void =>
      ledger.add(['execute', spanId(span), prefix, doing, 'seconds'], seconds);
    // The report of the running task may be older than that of its end.
    const runs = executing !== undefined && executing.since >= this.#lastStop ? executing : undefined;
    const kinds = runs === undefined ? undefined : this.#kindsOf(runs.run);
    const kind = runs === undefined ? undefined : kinds?.kinds[kinds.kindOf[runs.id]!];
    let last = kind;
    let accounted = 0;
    for (const { seconds } of this.#slices) {
      for (const [one, part] of seconds) {
        add(one, 'other', part);
        accounted += part;
        last ??= one;
      }
    }
    if (runs !== undefined && kind !== undefined) add(kind, activity, Math.max(0, now - runs.since));
    const [first] = this.#slices;
    const from = Math.max(this.measuredUpTo, first?.received ?? runs?.since ?? now);
    const between = (runs?.since ?? this.#lastStop) - from - accounted;
    if (last !== undefined && between > 0) add(last, 'executor', between);
    this.#forget(now);
    return ledger.takeChanges(Number.POSITIVE_INFINITY);
  }

  #forget(now: number): void {
    this.#slices = [];
    this.measuredUpTo = now;
    this.#lastStop = now;
    this.#leaving = undefined;
  }

  #kindsOf(run: number): TaskKinds | undefined {
    return this.#kinds.get(run) ?? (this.#leaving?.run === run ? this.#leaving.kinds : undefined);
  }

  #sliceFor(stop: number, received: number): Slice {
    const last = this.#slices.at(-1);
    if (last !== undefined && (stop < last.end || this.#slices.length >= MAX_SLICES)) return last;
    const slice = { start: stop, end: stop + SLICE_SECONDS, received, seconds: new Map<TaskKind, number>() };
    this.#slices.push(slice);
    return slice;
  }
}
