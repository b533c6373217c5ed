// Computes the thread-seconds that a cluster has offered: the integral of its threads over time.
import { firstWhere } from './lookUps.js';

export class ThreadSeconds {
  /** Times of changes, the integral up to each, and the number of threads from then on. */
  readonly #times: number[] = [];
  readonly #sums: number[] = [];
  readonly #threads: number[] = [];

  /** Adds `change` threads from `time` on. A time before an earlier change counts as that one. */
  change(time: number, change: number): void {
    const last = this.#times.length - 1;
    const at = last < 0 ? time : Math.max(time, this.#times[last]!);
    this.#sums.push(this.at(at));
    this.#times.push(at);
    this.#threads.push((last < 0 ? 0 : this.#threads[last]!) + change);
  }

  /** Returns the integral up to a time. Cost: a binary search. */
  at(time: number): number {
    const last = firstWhere(0, this.#times.length, (at) => this.#times[at]! > time) - 1;
    if (last < 0) return 0;
    return this.#sums[last]! + this.#threads[last]! * (time - this.#times[last]!);
  }
}
