// Chunks of points with any number of coordinates, and the computations on one chunk. The coordinates of a point are
// adjacent.

export interface Points {
  readonly columns: number;
  readonly data: Float64Array;
}

/** Count, sum and sum of squares of numbers. The moments of two chunks may be added. */
export interface Moments {
  readonly count: number;
  readonly sum: number;
  readonly squares: number;
}

/** Per centre, the number and the sum of its nearest points; `inertia` is the sum of all squared distances. */
export interface Clusters {
  readonly counts: Float64Array;
  readonly sums: Float64Array;
  readonly inertia: number;
}

export function countOf({ columns, data }: Points): number {
  return data.length / columns;
}

/** Returns a generator of numbers in [0, 1), which is equal for equal seeds on every machine (mulberry32). */
export function randomNumbers(seed: number): () => number {
  let state = Math.imul(seed + 1, 0x9e3779b1);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), state | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return ((bits ^ (bits >>> 14)) >>> 0) / 4294967296;
  };
}

/** Returns the blob of a point, if `total` points are divided into `blobs` equal consecutive shares. */
export function blobOf(point: number, total: number, blobs: number): number {
  return Math.floor((point * blobs) / total);
}

/** Returns the points `from .. to` of `total` around the centres, with normal deviates of variance 1. */
export function blobs(
  centers: readonly (readonly number[])[],
  total: number,
  from: number,
  to: number,
): Points {
  const columns = centers[0]?.length ?? 0;
  const data = new Float64Array((to - from) * columns);
  const random = randomNumbers(from);
  for (let point = from; point < to; point++) {
    const center = centers[blobOf(point, total, centers.length)]!;
    for (let column = 0; column < columns; column++) {
      // The transform of Box and Muller makes a normal deviate of two uniform ones.
      const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
      data[(point - from) * columns + column] = center[column]! + normal;
    }
  }
  return { columns, data };
}

export function moments({ data }: Points): Moments {
  let sum = 0;
  let squares = 0;
  for (const value of data) {
    sum += value;
    squares += value * value;
  }
  return { count: data.length, sum, squares };
}

/** Returns the points normalised by the moments of all chunks, to mean 0 and standard deviation 1. */
export function normalized({ columns, data }: Points, parts: readonly Moments[]): Points {
  const count = total(parts, (part) => part.count);
  const mean = total(parts, (part) => part.sum) / count;
  const deviation = Math.sqrt(total(parts, (part) => part.squares) / count - mean * mean);
  return { columns, data: data.map((value) => (value - mean) / deviation) };
}

function total<T>(parts: readonly T[], value: (part: T) => number): number {
  return parts.reduce((sum, part) => sum + value(part), 0);
}

/** Returns every `step`th point, starting with the first. */
export function everyNth(points: Points, step: number): Points {
  const { columns, data } = points;
  const kept = Math.ceil(countOf(points) / step);
  const sample = new Float64Array(kept * columns);
  for (let i = 0; i < kept; i++)
    sample.set(data.subarray(i * step * columns, (i * step + 1) * columns), i * columns);
  return { columns, data: sample };
}

export function joined(parts: readonly Points[]): Points {
  const data = new Float64Array(parts.reduce((sum, part) => sum + part.data.length, 0));
  let at = 0;
  for (const part of parts) {
    data.set(part.data, at);
    at += part.data.length;
  }
  return { columns: parts[0]?.columns ?? 0, data };
}

/** Returns the squared distance between point `i` and centre `j`. */
export function distance(points: Points, i: number, centers: Points, j: number): number {
  const { columns } = points;
  let sum = 0;
  for (let column = 0; column < columns; column++) {
    const difference = points.data[i * columns + column]! - centers.data[j * columns + column]!;
    sum += difference * difference;
  }
  return sum;
}

/** Returns the index of the nearest centre for each point. */
export function nearest(points: Points, centers: Points): Int32Array {
  const count = countOf(centers);
  return Int32Array.from({ length: countOf(points) }, (_, i) => {
    let best = 0;
    let least = Number.POSITIVE_INFINITY;
    for (let j = 0; j < count; j++) {
      const square = distance(points, i, centers, j);
      if (square >= least) continue;
      least = square;
      best = j;
    }
    return best;
  });
}

export function clusters(points: Points, centers: Points): Clusters {
  const { columns, data } = points;
  const counts = new Float64Array(countOf(centers));
  const sums = new Float64Array(centers.data.length);
  let inertia = 0;
  for (const [i, cluster] of nearest(points, centers).entries()) {
    counts[cluster]! += 1;
    inertia += distance(points, i, centers, cluster);
    for (let column = 0; column < columns; column++)
      sums[cluster * columns + column]! += data[i * columns + column]!;
  }
  return { counts, sums, inertia };
}

export function addClusters(parts: readonly Clusters[]): Clusters {
  const [first, ...rest] = parts;
  const counts = Float64Array.from(first?.counts ?? []);
  const sums = Float64Array.from(first?.sums ?? []);
  let inertia = first?.inertia ?? 0;
  for (const part of rest) {
    for (let i = 0; i < counts.length; i++) counts[i]! += part.counts[i]!;
    for (let i = 0; i < sums.length; i++) sums[i]! += part.sums[i]!;
    inertia += part.inertia;
  }
  return { counts, sums, inertia };
}
