// Measures the agreement of two clusterings, regardless of the labels of their groups.

/** Returns the adjusted Rand index of Hubert and Arabie (1985): 1 for equal groups, about 0 for unrelated groups. */
export function adjustedRandIndex(a: Int32Array, b: Int32Array): number {
  const pairs = new Map<string, number>();
  const [inA, inB] = [new Map<number, number>(), new Map<number, number>()];
  for (const [i, group] of a.entries()) {
    const other = b[i]!;
    const pair = `${group} ${other}`;
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
    inA.set(group, (inA.get(group) ?? 0) + 1);
    inB.set(other, (inB.get(other) ?? 0) + 1);
  }
  const together = pairsIn(pairs.values());
  const expected = (pairsIn(inA.values()) * pairsIn(inB.values())) / pairsIn([a.length]);
  const most = (pairsIn(inA.values()) + pairsIn(inB.values())) / 2;
  return most === expected ? 1 : (together - expected) / (most - expected);
}

/** Returns the number of pairs within groups of these sizes. */
function pairsIn(sizes: Iterable<number>): number {
  let pairs = 0;
  for (const size of sizes) pairs += (size * (size - 1)) / 2;
  return pairs;
}
