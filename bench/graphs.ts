// The graphs that every engine runs: independent inc(i) under a 16-ary tree of sums, and a chain of inc.

export const FAN_IN = 16;

/** Shape of a tree. The inputs of sum i start at i * 16 of the level below. */
export interface TreeShape {
  readonly leaves: number;
  /** Number of sums per level, from the lowest to the root; the last is 1. */
  readonly levels: readonly number[];
  readonly tasks: number;
}

export function treeShape(leaves: number): TreeShape {
  const levels: number[] = [];
  for (let width = leaves; width > 1; ) {
    width = Math.ceil(width / FAN_IN);
    levels.push(width);
  }
  return { leaves, levels, tasks: levels.reduce((sum, width) => sum + width, leaves) };
}

/** Returns the expected value of the root: Σ (i + 1). */
export function treeResult(leaves: number): number {
  return (leaves * (leaves + 1)) / 2;
}

/** Returns the tree in Dask's form: `{ 'inc-0': [inc, 0], …, 'sum-0-0': [sum, ['inc-0', …]] }`. */
export function treeGraph(
  shape: TreeShape,
  inc: unknown,
  sum: unknown,
): { graph: Record<string, unknown>; key: string } {
  const graph: Record<string, unknown> = {};
  let below: string[] = [];
  for (let i = 0; i < shape.leaves; i++) {
    const key = `inc-${i}`;
    graph[key] = [inc, i];
    below.push(key);
  }
  for (const [level, width] of shape.levels.entries()) {
    const here: string[] = [];
    for (let i = 0; i < width; i++) {
      const key = `sum-${level}-${i}`;
      graph[key] = [sum, below.slice(i * FAN_IN, (i + 1) * FAN_IN)];
      here.push(key);
    }
    below = here;
  }
  return { graph, key: below[0] ?? '' };
}

/** Returns the chain `{ 'inc-0': [inc, 0], 'inc-1': [inc, 'inc-0'], … }`, whose last result is `length`. */
export function chainGraph(length: number, inc: unknown): { graph: Record<string, unknown>; key: string } {
  const graph: Record<string, unknown> = {};
  for (let i = 0; i < length; i++) graph[`inc-${i}`] = [inc, i === 0 ? 0 : `inc-${i - 1}`];
  return { graph, key: `inc-${length - 1}` };
}
