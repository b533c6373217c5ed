// How many thread-seconds a cluster has offered: the integral of its threads over time. Workers come and go.

export class ThreadSeconds {
  /** When the number changed, the integral up to then, and the number since. */
  readonly #times: number[] = [];
  readonly #sums: number[] = [];
  readonly #threads: number[] = [];

  /** From `time` on there are `change` threads more. Times that lie before an earlier change count as that one. */
  change(time: number, change: number): void {
    const last = this.#times.length - 1;
    const at = last < 0 ? time : Math.max(time, this.#times[last]!);
    this.#sums.push(this.at(at));
    this.#times.push(at);
    this.#threads.push((last < 0 ? 0 : this.#threads[last]!) + change);
  }

  /** The integral up to a time. Cost: a binary search. */
  at(time: number): number {
    let low = 0;
    let high = this.#times.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#times[middle]! <= time) low = middle + 1;
      else high = middle;
    }
    if (low === 0) return 0;
    return this.#sums[low - 1]! + this.#threads[low - 1]! * (time - this.#times[low - 1]!);
  }
}
