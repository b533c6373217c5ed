// Places the items of layers beside each other. Each item stands as near as possible to the items that it is joined
// to. The order of a layer is kept, and items keep the distance that their sizes require.

const SWEEPS = 6;
/** Weight of an item that stands in one line with others; other items have weight 1. */
const IN_LINE = 30;

export interface Settled {
  /** Place of each item, from 0. */
  readonly at: Float64Array;
  /** Distance from the first edge of the items to the last. */
  readonly size: number;
}

/**
 * Returns the place of each item.
 * @param isAlike whether two joined items should stand in one line. If an item has such a neighbour, its other
 * neighbours do not affect its place
 * @param before size that an item takes before its place
 * @param after size that an item takes behind its place
 * Cost: O(sweeps × (items + edges)).
 */
export function settle(
  lists: readonly (readonly number[])[],
  edges: readonly (readonly [number, number])[],
  isAlike: (a: number, b: number) => boolean,
  before: (item: number) => number,
  after: (item: number) => number,
): Settled {
  const count = lists.reduce((sum, { length }) => sum + length, 0);
  const at = new Float64Array(count);
  const loose = new Float64Array(count).fill(1);
  for (const list of lists) placeInOrder(list, at, { before, after, weight: loose });
  const lower = Array.from({ length: count }, (): number[] => []);
  const upper = Array.from({ length: count }, (): number[] => []);
  for (const [from, to] of edges) {
    upper[to]?.push(from);
    lower[from]?.push(to);
  }
  const [weightUp, weightDown] = [lower, upper].map((joined) => keepAlike(joined, isAlike));
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const down = sweep % 2 === 0;
    const joined = down ? upper : lower;
    const weight = (down ? weightDown : weightUp) ?? loose;
    for (const list of down ? lists : [...lists].reverse())
      placeInOrder(list, at, { before, after, weight, joined });
  }
  let [first, last] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let item = 0; item < count; item++) {
    first = Math.min(first, at[item]! - before(item));
    last = Math.max(last, at[item]! + after(item));
  }
  if (count === 0) return { at, size: 0 };
  return { at: at.map((one) => one - first), size: last - first };
}

/** Reduces the neighbours of an item to those that should stand in one line with it, if it has any. Returns the weights. */
function keepAlike(joined: number[][], isAlike: (a: number, b: number) => boolean): Float64Array {
  const weight = new Float64Array(joined.length).fill(1);
  for (const [item, others] of joined.entries()) {
    const alike = others.filter((other) => isAlike(item, other));
    if (alike.length === 0) continue;
    joined[item] = alike;
    weight[item] = IN_LINE;
  }
  return weight;
}

interface Wants {
  readonly before: (item: number) => number;
  readonly after: (item: number) => number;
  readonly weight: Float64Array;
  /** Neighbours of each item; the item is placed near their mean. Default: each item stays at its place. */
  readonly joined?: readonly (readonly number[])[];
}

/**
 * Finds the places in one layer that differ least from the desired ones. Items that would overlap become a block at
 * the mean of their desired places (pool adjacent violators).
 */
function placeInOrder(
  list: readonly number[],
  at: Float64Array,
  { before, after, weight, joined }: Wants,
): void {
  const blocks: { sum: number; weight: number; count: number }[] = [];
  const offsets: number[] = [];
  let offset = 0;
  for (const [i, item] of list.entries()) {
    if (i > 0) offset += after(list[i - 1]!) + before(item);
    offsets.push(offset);
    const others = joined?.[item] ?? [];
    const wanted =
      others.length === 0 ? at[item]! : others.reduce((sum, one) => sum + at[one]!, 0) / others.length;
    let block = { sum: (wanted - offset) * weight[item]!, weight: weight[item]!, count: 1 };
    for (let last = blocks.at(-1); last !== undefined; last = blocks.at(-1)) {
      if (last.sum / last.weight <= block.sum / block.weight) break;
      block = {
        sum: block.sum + last.sum,
        weight: block.weight + last.weight,
        count: block.count + last.count,
      };
      blocks.pop();
    }
    blocks.push(block);
  }
  let next = 0;
  for (const { sum, weight: all, count } of blocks)
    for (const stop = next + count; next < stop; next++) at[list[next]!] = sum / all + offsets[next]!;
}
