// When the tasks of a run were sent, and how long they took. Arrays are used again from one report to the next.
import type { CompletionColumns } from '../protocol/completionLog.js';
import type { CompletedTasks } from '../protocol/runObserver.js';
import { epochSeconds } from '../resources/clock.js';

export class RunTimes {
  /** By task id, seconds since the epoch; empty if nobody wants to know. */
  readonly #sentAt: Float64Array;
  #dispatchTimes = new Float64Array(0);
  #seconds = new Float64Array(1024);

  /** `size`: tasks of the run, 0 if nobody wants to know when they were sent. */
  constructor(size: number) {
    this.#sentAt = new Float64Array(size);
  }

  /** The tasks are being sent now. */
  sent(ids: Int32Array): void {
    if (this.#sentAt.length === 0) return;
    const now = epochSeconds();
    for (const id of ids) this.#sentAt[id] = now;
  }

  /** How long each task ran, in seconds. Good until the next call. */
  durations({ starts, stops, count }: CompletionColumns): Float64Array {
    if (this.#seconds.length < count) this.#seconds = new Float64Array(count * 2);
    for (let index = 0; index < count; index++) this.#seconds[index] = stops[index]! - starts[index]!;
    return this.#seconds;
  }

  /** What observers are told of tasks that ended. Good until the next call. */
  completed(worker: number, { count, ids, received, starts, stops }: CompletionColumns): CompletedTasks {
    if (this.#dispatchTimes.length < count) this.#dispatchTimes = new Float64Array(count * 2);
    const dispatchTimes = this.#dispatchTimes;
    if (this.#sentAt.length > 0)
      for (let index = 0; index < count; index++) dispatchTimes[index] = this.#sentAt[ids[index]!]!;
    return {
      worker,
      count,
      ids,
      dispatchTimes,
      receiveTimes: received,
      startTimes: starts,
      stopTimes: stops,
    };
  }
}
