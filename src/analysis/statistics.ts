// The statistics that analyses share: robust middles and spreads, and tests that ask whether a difference is more than
// noise. Random numbers have a seed: the same input gives the same answer.

/** Scales the median absolute deviation to the standard deviation of a normal distribution. */
const MAD_TO_SIGMA = 1.4826;

/** The value below which the share `q` of the sorted values lies, interpolated; NaN of none. */
export function sortedQuantile(sorted: Float64Array, q: number): number {
  if (sorted.length === 0) return Number.NaN;
  const at = q * (sorted.length - 1);
  const below = Math.floor(at);
  const low = sorted[below]!;
  const high = sorted[Math.min(below + 1, sorted.length - 1)]!;
  return low + (high - low) * (at - below);
}

/** The value below which the share `q` of the values lies, interpolated; NaN of none. Cost: a few walks over a copy. */
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

/** The value that stands at place `k` of the sorted values, NaN last. Moves them: before `k` is then nothing larger. */
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

/** The middle value; NaN of none. */
export function median(values: ArrayLike<number>): number {
  return quantile(values, 0.5);
}

/** The median and a spread that outliers do not move: the standard deviation if the values were normal. */
export interface Middle {
  readonly median: number;
  readonly sigma: number;
}

/** Median and scaled median absolute deviation; NaN of none. */
export function middleOf(values: ArrayLike<number>): Middle {
  const center = median(values);
  const deviations = new Float64Array(values);
  for (let i = 0; i < deviations.length; i++) deviations[i] = Math.abs(deviations[i]! - center);
  return { median: center, sigma: median(deviations) * MAD_TO_SIGMA };
}

/** At most `most` of the values, evenly spaced: enough for a median, and cheap to sort. */
export function evenly(values: Int32Array, most = 20_000): Int32Array {
  if (values.length <= most) return values;
  const step = values.length / most;
  return Int32Array.from({ length: most }, (_, i) => values[Math.floor(i * step)]!);
}

/** The mean; NaN of none. */
export function mean(values: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i]!;
  return sum / values.length;
}

/** The mean without the share `trim` of the largest values: what is typical, rare stalls left out. NaN of none. */
export function trimmedMean(values: ArrayLike<number>, trim: number): number {
  const sorted = Float64Array.from(values).sort();
  return mean(sorted.subarray(0, Math.max(1, Math.ceil(sorted.length * (1 - trim)))));
}

/** Uniform numbers in [0, 1) that depend on the seed alone: a Weyl sequence, mixed by multiplying and shifting. */
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

  /** A whole number, 0 ≤ n < `below`. */
  below(below: number): number {
    return Math.floor(this.next() * below);
  }
}

const SEED = 20_250_101;
/** All ways to divide the values are tried if there are at most as many, else that many at random. */
const MAX_DIVISIONS = 5000;

/**
 * How likely a difference of means as large as this one is if both samples came from the same source: the share of all
 * ways to divide the values in two that differ as much. Exact for small samples; two-sided.
 *
 * @returns 1 if a sample is empty
 * @source Fisher's permutation test
 */
export function permutationTest(a: ArrayLike<number>, b: ArrayLike<number>): number {
  if (a.length === 0 || b.length === 0) return 1;
  const all = Float64Array.from([...Array.from(a), ...Array.from(b)]);
  const total = all.reduce((sum, value) => sum + value, 0);
  const differenceOf = (sum: number) => Math.abs(sum / a.length - (total - sum) / b.length);
  // Rounding must not make the division that was seen less extreme than itself.
  const seen = differenceOf(mean(a) * a.length) * (1 - 1e-12);
  const exact = divisions(all.length, a.length) <= MAX_DIVISIONS;
  let count = 0;
  let extreme = 0;
  for (const sum of exact ? allSums(all, a.length, 0) : randomSums(all, a.length)) {
    count++;
    if (differenceOf(sum) >= seen) extreme++;
  }
  // Of random divisions the one that was seen counts as one more, so that no answer is 0.
  return exact ? extreme / count : (extreme + 1) / (count + 1);
}

/** The smallest answer that `permutationTest` can give for samples of so many values, however far apart they are. */
export function smallestP(a: number, b: number): number {
  const ways = divisions(a + b, a);
  // Of two samples of one size, each in the other's place differs as much.
  return ways <= MAX_DIVISIONS ? (a === b ? 2 : 1) / ways : 1 / (MAX_DIVISIONS + 1);
}

/**
 * The same where each value of `a` has its own in `b`: the share of all ways to exchange some pairs whose difference is as
 * large. Sees a change of all values through any spread between them.
 *
 * @returns 1 for no pairs
 * @source Fisher's test of matched pairs
 */
export function pairedPermutationTest(a: ArrayLike<number>, b: ArrayLike<number>): number {
  const differences = Float64Array.from(a, (value, i) => b[i]! - value);
  const seen = Math.abs(sumOf(differences)) * (1 - 1e-12);
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

function sumOf(values: Float64Array): number {
  return values.reduce((sum, value) => sum + value, 0);
}

/** n over k, or Infinity when it is large. */
function divisions(n: number, k: number): number {
  let count = 1;
  for (let i = 1; i <= Math.min(k, n - k); i++) {
    count = (count * (n - i + 1)) / i;
    if (count > 1e9) return Number.POSITIVE_INFINITY;
  }
  return Math.round(count);
}

/** The sums of all ways to choose `k` of the values from `from` on. */
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

/**
 * The interval that holds the ratio of means, b to a, in the share `confidence` of samples drawn anew from both.
 * Deterministic. A sample of one has no spread of its own: the interval is then that of the other. `paired`: each value of
 * `a` has its own in `b`, and both are drawn together.
 *
 * @source Efron's bootstrap, percentile interval
 */
export function bootstrapRatio(
  a: ArrayLike<number>,
  b: ArrayLike<number>,
  { confidence = 0.95, draws = 1000, paired = false } = {},
): { readonly low: number; readonly high: number } {
  const random = new Random(SEED);
  const ratios = new Float64Array(draws);
  for (let draw = 0; draw < draws; draw++)
    ratios[draw] = paired ? drawnRatio(a, b, random) : drawnMean(b, random) / drawnMean(a, random);
  ratios.sort();
  const tail = (1 - confidence) / 2;
  return { low: sortedQuantile(ratios, tail), high: sortedQuantile(ratios, 1 - tail) };
}

/** Of pairs that are drawn together. */
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
 * p-values corrected for how many were asked: each answers whether its own difference is real, at a false discovery
 * rate. In the order of the input.
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
