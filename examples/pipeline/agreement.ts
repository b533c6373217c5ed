// How well two ways to cut the same things into groups agree, whatever the groups are called.

/**
 * The adjusted Rand index of Hubert and Arabie (1985): 1 for the same groups, about 0 for groups that have nothing to do with
 * each other.
 */
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

/** Pairs of two that groups of these sizes have within them. */
function pairsIn(sizes: Iterable<number>): number {
  let pairs = 0;
  for (const size of sizes) pairs += (size * (size - 1)) / 2;
  return pairs;
}
