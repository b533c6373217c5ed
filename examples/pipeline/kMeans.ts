// K-means: seeds that lie far from each other, chosen from a sample, then Lloyd's iterations until the centres stay.
import {
  addClusters,
  type Clusters,
  clusters,
  countOf,
  distance,
  type Points,
  randomNumbers,
} from './points.js';

/** Runs from other seeds, of which the best counts. */
const TRIALS = 8;
const SAMPLE_ITERATIONS = 20;

/** Centres to begin with: of some runs on the sample those with the smallest sum of squared distances. */
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

/** The next centre is a point drawn with a probability that grows with the square of its distance to those before. */
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

/** Each centre in the middle of its points; a centre without points stays. */
export function moved(centers: Points, found: Clusters): Points {
  const { columns } = centers;
  const data = centers.data.map((value, i) => {
    const count = found.counts[Math.floor(i / columns)]!;
    return count > 0 ? found.sums[i]! / count : value;
  });
  return { columns, data };
}

/** One iteration over all chunks: the centres, and how far the one that moved most has moved, squared. */
export function step(
  centers: Points,
  parts: readonly Clusters[],
): { readonly centers: Points; readonly shift: number } {
  const next = moved(centers, addClusters(parts));
  const shifts = Array.from({ length: countOf(centers) }, (_, i) => distance(centers, i, next, i));
  return { centers: next, shift: Math.max(...shifts) };
}
