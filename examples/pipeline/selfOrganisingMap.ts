// A self-organising map in batches. Nodes on a line move towards their nearest points and, with decreasing weight,
// towards those of their neighbours on the line.
import { addClusters, type Clusters, countOf, type Points, randomNumbers } from './points.js';

/**
 * Returns initial nodes at random points of the sample, ordered by the first coordinate, so that the line is not
 * tangled.
 */
export function startNodes(sample: Points, count: number, seed: number): Points {
  const { columns, data } = sample;
  const random = randomNumbers(seed);
  const picked = Array.from({ length: count }, () => Math.floor(random() * countOf(sample)));
  const points = picked.map((point) => data.slice(point * columns, (point + 1) * columns));
  points.sort((a, b) => a[0]! - b[0]!);
  return { columns, data: Float64Array.from(points.flatMap((point) => [...point])) };
}

/**
 * Completes one epoch: moves each node to a weighted mean of all points. The weight of a point decreases with the
 * distance on the line between the node and the nearest node of the point. `radius` is the radius of the neighbourhood,
 * in nodes.
 */
export function learn(nodes: Points, parts: readonly Clusters[], radius: number): Points {
  const { columns } = nodes;
  const { counts, sums } = addClusters(parts);
  const data = nodes.data.slice();
  for (let node = 0; node < countOf(nodes); node++) {
    let weight = 0;
    const sum = new Float64Array(columns);
    for (const [winner, count] of counts.entries()) {
      const influence = Math.exp(-((node - winner) ** 2) / (2 * radius * radius));
      weight += influence * count;
      for (let column = 0; column < columns; column++)
        sum[column]! += influence * sums[winner * columns + column]!;
    }
    if (weight > 0)
      for (const [column, value] of sum.entries()) data[node * columns + column] = value / weight;
  }
  return { columns, data };
}

/** Returns the radius of an epoch. It decreases exponentially from half of the line until neighbours have no weight. */
export function radiusAt(epoch: number, epochs: number, nodes: number): number {
  const [first, last] = [Math.max(1, nodes / 2), 0.1];
  return first * (last / first) ** (epochs > 1 ? epoch / (epochs - 1) : 1);
}
