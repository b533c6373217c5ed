// Statistics for analyses: robust means and deviations, and tests of the significance of differences. Random numbers
// have a fixed seed, so the same input gives the same result.

/** Scales the median absolute deviation to the standard deviation of a normal distribution. */
const MAD_TO_SIGMA = 1.4826;

/** Returns the quantile `q` of the values, interpolated; NaN without values. Takes linear time. */
export function quantile(values: ArrayLike<number>, q: number): number {
  const copy = new Float64Array(values);
  if (copy.length === 0) return Number.NaN;
  const at = q * (copy.length - 1);
  const below = Math.floor(at);
  const low = selected(copy, below);
  if (at === below) return low;
  let high = Number.NaN;
  for (const value of copy.subarray(below + 1)) if (value < high || Number.isNaN(high)) high = value;
  return low + (high - low) * (at - below);
}

/** Returns the value at position `k` in sorted order, NaN last. Reorders the values: none before `k` is then larger. */
function selected(values: Float64Array, k: number): number {
  let known = 0;
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    if (Number.isNaN(value)) continue;
    values[i] = values[known]!;
    values[known++] = value;
  }
  if (k >= known) return Number.NaN;
  let [from, to] = [0, known - 1];
  while (from < to) {
    const pivot = values[(from + to) >> 1]!;
    let [i, j] = [from, to];
    while (i <= j) {
      while (values[i]! < pivot) i++;
      while (values[j]! > pivot) j--;
      if (i > j) break;
      const value = values[i]!;
      values[i++] = values[j]!;
      values[j--] = value;
    }
    if (k <= j) to = j;
    else if (k >= i) from = i;
    else return pivot;
  }
  return values[k]!;
}

/** Returns the median; NaN without values. */
export function median(values: ArrayLike<number>): number {
  return quantile(values, 0.5);
}

/** The median and a deviation that is robust against outliers, and equals the standard deviation of normal values. */
export interface Middle {
  readonly median: number;
  readonly sigma: number;
}

/** Returns the median and the scaled median absolute deviation; NaN without values. */
export function middleOf(values: ArrayLike<number>): Middle {
  const center = median(values);
  const deviations = new Float64Array(values);
  for (let i = 0; i < deviations.length; i++) deviations[i] = Math.abs(deviations[i]! - center);
  return { median: center, sigma: median(deviations) * MAD_TO_SIGMA };
}

/** Returns at most `most` of the values, evenly spaced, e.g. to estimate a median. */
export function evenly(values: Int32Array, most = 20_000): Int32Array {
  if (values.length <= most) return values;
  const step = values.length / most;
  return Int32Array.from({ length: most }, (_, i) => values[Math.floor(i * step)]!);
}

/** Returns the mean; NaN without values. */
export function mean(values: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i]!;
  return sum / values.length;
}

/** Returns the mean without the share `trim` of the largest values, e.g. rare stalls; NaN without values. */
export function trimmedMean(values: ArrayLike<number>, trim: number): number {
  const sorted = Float64Array.from(values).sort();
  return mean(sorted.subarray(0, Math.max(1, Math.ceil(sorted.length * (1 - trim)))));
}

/**
 * Uniform random numbers in [0, 1) that depend only on the seed: a Weyl sequence, mixed by multiplications and shifts.
 */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0;
  }

  next(): number {
    this.#state = (this.#state + 0x9e3779b9) | 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 0x1_0000_0000;
  }

  /** Returns a whole number from 0 to `below` - 1. */
  below(below: number): number {
    return Math.floor(this.next() * below);
  }
}

const SEED = 20_250_101;
/** Largest number of divisions of the values that are tried. If there are more, this many random ones are tried. */
const MAX_DIVISIONS = 5000;

/**
 * Returns the p-value of the difference of two means: the share of all divisions of the values in two samples with at
 * least this difference. Two-sided; exact for small samples.
 *
 * @returns 1 if a sample is empty
 * @source Fisher's permutation test
 */
export function permutationTest(a: ArrayLike<number>, b: ArrayLike<number>): number {
  if (a.length === 0 || b.length === 0) return 1;
  const all = Float64Array.from([...Array.from(a), ...Array.from(b)]);
  const total = all.reduce((sum, value) => sum + value, 0);
  const differenceOf = (sum: number) => Math.abs(sum / a.length - (total - sum) / b.length);
  // The factor ensures that the recorded division counts in spite of rounding.
  const seen = differenceOf(mean(a) * a.length) * (1 - 1e-12);
  const exact = divisions(all.length, a.length) <= MAX_DIVISIONS;
  let count = 0;
  let extreme = 0;
  for (const sum of exact ? allSums(all, a.length, 0) : randomSums(all, a.length)) {
    count++;
    if (differenceOf(sum) >= seen) extreme++;
  }
  // Among random divisions, the recorded one counts as an additional one, so that the p-value is never 0.
  return exact ? extreme / count : (extreme + 1) / (count + 1);
}

/** Returns the smallest p-value that `permutationTest` can give for samples of these sizes. */
export function smallestP(a: number, b: number): number {
  const ways = divisions(a + b, a);
  // Exchanging two samples of the same size gives the same difference.
  return ways <= MAX_DIVISIONS ? (a === b ? 2 : 1) / ways : 1 / (MAX_DIVISIONS + 1);
}

/**
 * Returns the p-value of the difference of paired values: the share of all exchanges within pairs with at least this
 * difference. Detects a change of all values even if the values differ much between pairs.
 *
 * @returns 1 without pairs
 * @source Fisher's test of matched pairs
 */
export function pairedPermutationTest(a: ArrayLike<number>, b: ArrayLike<number>): number {
  const differences = Float64Array.from(a, (value, i) => b[i]! - value);
  const seen = Math.abs(differences.reduce((sum, value) => sum + value, 0)) * (1 - 1e-12);
  if (differences.length === 0) return 1;
  const exact = 2 ** differences.length <= MAX_DIVISIONS;
  const ways = exact ? 2 ** differences.length : MAX_DIVISIONS;
  const random = new Random(SEED);
  let extreme = 0;
  for (let way = 0; way < ways; way++) {
    let sum = 0;
    for (let i = 0; i < differences.length; i++)
      sum += (exact ? (way >> i) & 1 : random.below(2)) === 1 ? -differences[i]! : differences[i]!;
    if (Math.abs(sum) >= seen) extreme++;
  }
  return exact ? extreme / ways : (extreme + 1) / (ways + 1);
}

/** Returns n over k, or Infinity if that is large. */
function divisions(n: number, k: number): number {
  let count = 1;
  for (let i = 1; i <= Math.min(k, n - k); i++) {
    count = (count * (n - i + 1)) / i;
    if (count > 1e9) return Number.POSITIVE_INFINITY;
  }
  return Math.round(count);
}

/** Yields the sum of each choice of `k` values from position `from` on. */
function* allSums(values: Float64Array, k: number, from: number): IterableIterator<number> {
  if (k === 0) {
    yield 0;
    return;
  }
  for (let i = from; i <= values.length - k; i++) {
    for (const rest of allSums(values, k - 1, i + 1)) yield values[i]! + rest;
  }
}

function* randomSums(values: Float64Array, k: number): IterableIterator<number> {
  const random = new Random(SEED);
  const shuffled = values.slice();
  const take = Math.min(k, values.length - k);
  const total = values.reduce((sum, value) => sum + value, 0);
  for (let division = 0; division < MAX_DIVISIONS; division++) {
    let sum = 0;
    for (let i = 0; i < take; i++) {
      const at = i + random.below(shuffled.length - i);
      const value = shuffled[at]!;
      shuffled[at] = shuffled[i]!;
      shuffled[i] = value;
      sum += value;
    }
    yield take === k ? sum : total - sum;
  }
}

/** Number of resampled ratios, and the share of them on each side of the interval. */
const DRAWS = 1000;
const TAIL = 0.025;

/**
 * Returns the 95 % confidence interval of the ratio of means, b to a, by resampling both. Deterministic. A sample of one
 * value has no deviation, so the interval then reflects only the other sample. With `paired`, values at the same index
 * are drawn together.
 *
 * @source Efron's bootstrap, percentile interval
 */
export function bootstrapRatio(
  a: ArrayLike<number>,
  b: ArrayLike<number>,
  paired = false,
): { readonly low: number; readonly high: number } {
  const random = new Random(SEED);
  const ratios = new Float64Array(DRAWS);
  for (let draw = 0; draw < DRAWS; draw++)
    ratios[draw] = paired ? drawnRatio(a, b, random) : drawnMean(b, random) / drawnMean(a, random);
  return { low: quantile(ratios, TAIL), high: quantile(ratios, 1 - TAIL) };
}

function drawnRatio(a: ArrayLike<number>, b: ArrayLike<number>, random: Random): number {
  let [before, after] = [0, 0];
  for (let i = 0; i < a.length; i++) {
    const pair = random.below(a.length);
    before += a[pair]!;
    after += b[pair]!;
  }
  return after / before;
}

function drawnMean(values: ArrayLike<number>, random: Random): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[random.below(values.length)]!;
  return sum / values.length;
}

/**
 * Returns p-values adjusted for multiple tests by the false discovery rate, in the order of the input.
 *
 * @source Benjamini and Hochberg, 1995
 */
export function adjusted(pValues: readonly number[]): number[] {
  const order = pValues.map((_, i) => i).sort((a, b) => pValues[b]! - pValues[a]!);
  const result = new Array<number>(pValues.length).fill(1);
  let smallest = 1;
  for (const [position, i] of order.entries()) {
    smallest = Math.min(smallest, (pValues[i]! * pValues.length) / (pValues.length - position));
    result[i] = smallest;
  }
  return result;
}
