// K-means: chooses initial centres with large distances from a sample, then iterates by Lloyd's method until the
// centres are stable.
import {
  addClusters,
  type Clusters,
  clusters,
  countOf,
  distance,
  type Points,
  randomNumbers,
} from './points.js';

/** Number of runs on the sample, of which the best provides the initial centres. */
const TRIALS = 8;
const SAMPLE_ITERATIONS = 20;

/** Returns initial centres: those of the run on the sample with the smallest sum of squared distances. */
export function seeds(sample: Points, count: number, seed: number): Points {
  const random = randomNumbers(seed);
  let best: Points | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (let trial = 0; trial < TRIALS; trial++) {
    let centers = farApart(sample, count, random);
    for (let i = 0; i < SAMPLE_ITERATIONS; i++) centers = moved(centers, clusters(sample, centers));
    const { inertia } = clusters(sample, centers);
    if (inertia >= least && best !== undefined) continue;
    least = inertia;
    best = centers;
  }
  return best ?? farApart(sample, count, random);
}

/**
 * Chooses centres from the points one by one, with a probability proportional to the squared distance to the nearest
 * earlier centre.
 */
function farApart(sample: Points, count: number, random: () => number): Points {
  const { columns, data } = sample;
  const total = countOf(sample);
  const centers = { columns, data: new Float64Array(count * columns) };
  const squares = new Float64Array(total).fill(Number.POSITIVE_INFINITY);
  let chosen = Math.floor(random() * total);
  for (let center = 0; center < count; center++) {
    centers.data.set(data.subarray(chosen * columns, (chosen + 1) * columns), center * columns);
    let sum = 0;
    for (let i = 0; i < total; i++) {
      squares[i] = Math.min(squares[i]!, distance(sample, i, centers, center));
      sum += squares[i]!;
    }
    let left = random() * sum;
    chosen = total - 1;
    for (let i = 0; i < total && left >= 0; i++) {
      left -= squares[i]!;
      chosen = i;
    }
  }
  return centers;
}

/** Moves each centre to the mean of its points. A centre without points stays. */
export function moved(centers: Points, found: Clusters): Points {
  const { columns } = centers;
  const data = centers.data.map((value, i) => {
    const count = found.counts[Math.floor(i / columns)]!;
    return count > 0 ? found.sums[i]! / count : value;
  });
  return { columns, data };
}

/** Completes one iteration. Returns the new centres and the largest squared distance that a centre has moved. */
export function step(
  centers: Points,
  parts: readonly Clusters[],
): { readonly centers: Points; readonly shift: number } {
  const next = moved(centers, addClusters(parts));
  const shifts = Array.from({ length: countOf(centers) }, (_, i) => distance(centers, i, next, i));
  return { centers: next, shift: Math.max(...shifts) };
}
