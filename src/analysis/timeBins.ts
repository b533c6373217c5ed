// Computes means over time in equal bins.

/** Equal bins of time. Adding an interval takes constant time, as a step up and a step down. */
export class TimeBins {
  readonly start: number;
  /** Length of a bin, seconds. */
  readonly width: number;
  readonly count: number;
  /** Amounts of intervals that cover a part of the bin. */
  readonly #partial: Float64Array;
  /** Change of the amount that covers whole bins, at the start of each bin. */
  readonly #steps: Float64Array;

  constructor(start: number, stop: number, count: number) {
    this.start = start;
    this.count = count;
    this.width = (stop - start) / count;
    this.#partial = new Float64Array(count);
    this.#steps = new Float64Array(count + 1);
  }

  /** Adds `amount` from `from` to `to`. Time outside the bins does not count. */
  add(from: number, to: number, amount = 1): void {
    const { count, width } = this;
    const low = Math.max(0, (from - this.start) / width);
    const high = Math.min(count, (to - this.start) / width);
    if (!(low < high)) return;
    const first = Math.min(count - 1, Math.floor(low));
    const last = Math.min(count - 1, Math.floor(high));
    if (first === last) {
      this.#partial[first]! += (high - low) * amount;
      return;
    }
    this.#partial[first]! += (first + 1 - low) * amount;
    this.#partial[last]! += (high - last) * amount;
    this.#steps[first + 1]! += amount;
    this.#steps[last]! -= amount;
  }

  means(): Float64Array {
    const means = new Float64Array(this.count);
    let level = 0;
    for (let bin = 0; bin < this.count; bin++) {
      level += this.#steps[bin]!;
      // Steps of large amounts do not cancel exactly, so negative values are rounding errors.
      means[bin] = Math.max(0, level + this.#partial[bin]!);
    }
    return means;
  }

  /** Returns a function from a time to the integral of these values of the bins, from the start to the time. */
  integral(values: Float64Array): (time: number) => number {
    const { start, width, count } = this;
    const sums = new Float64Array(count + 1);
    for (const [bin, value] of values.entries()) sums[bin + 1] = sums[bin]! + value * width;
    return (time) => {
      const at = Math.min(count, Math.max(0, (time - start) / width));
      const bin = Math.min(count - 1, Math.floor(at));
      return sums[bin]! + (at - bin) * (sums[bin + 1]! - sums[bin]!);
    };
  }

  /** Returns the seconds from the start to the beginning of each bin. */
  times(): Float64Array {
    return Float64Array.from({ length: this.count }, (_, bin) => bin * this.width);
  }
}
