// Compares two sets of call trees: each place in a stack with its seconds before and after. A function is identified
// by name and file. Lines do not count, because they move when a file is edited.
import { getOrMake } from '../base/lookUps.js';
import { type CallTree, selfCount } from './callTree.js';

/** A function at one place of the stack. Seconds are per run. */
export interface StackDiff {
  /** Name of the function; empty for the root. */
  readonly name: string;
  readonly filename: string;
  /** Start of the function in the newer tree; 0 if unknown. */
  readonly lineNumber: number;
  /** Seconds including callees. */
  readonly before: number;
  readonly after: number;
  /** Seconds of the function's own code. */
  readonly selfBefore: number;
  readonly selfAfter: number;
  /** Callees, the longest (before or after) first. */
  readonly children: readonly StackDiff[];
}

export interface WeightedTree {
  readonly tree: CallTree;
  /** Seconds per sample, divided by the number of runs on this side. */
  readonly seconds: number;
}

type Node = { -readonly [K in Exclude<keyof StackDiff, 'children'>]: StackDiff[K] } & {
  readonly children: Map<string, Node>;
};

/** Returns the differences. Cost: one visit per node of all trees. */
export function diffTrees(before: readonly WeightedTree[], after: readonly WeightedTree[]): StackDiff {
  const root = emptyNode('', '');
  for (const one of before) add(root, one, 'before', 'selfBefore');
  for (const one of after) add(root, one, 'after', 'selfAfter');
  return sorted(root);
}

/** Yields every place below the root with its depth from 0, callers before callees. */
export function* placesOf(
  root: StackDiff,
): IterableIterator<{ readonly place: StackDiff; readonly depth: number }> {
  const work = root.children.map((place) => ({ place, depth: 0 })).reverse();
  for (let next = work.pop(); next !== undefined; next = work.pop()) {
    yield next;
    const depth = next.depth + 1;
    for (const place of next.place.children.toReversed()) work.push({ place, depth });
  }
}

function emptyNode(name: string, filename: string): Node {
  const nothing = { before: 0, after: 0, selfBefore: 0, selfAfter: 0 };
  return { name, filename, lineNumber: 0, ...nothing, children: new Map() };
}

function add(
  root: Node,
  { tree, seconds }: WeightedTree,
  all: 'before' | 'after',
  self: 'selfBefore' | 'selfAfter',
): void {
  const work: [Node, CallTree][] = [[root, tree]];
  for (let next = work.pop(); next !== undefined; next = work.pop()) {
    const [into, from] = next;
    into[all] += from.count * seconds;
    into[self] += selfCount(from) * seconds;
    for (const child of Object.values(from.children)) {
      const { name, filename, lineNumber } = child.description;
      const key = `${name};${filename}`;
      const node = getOrMake(into.children, key, () => emptyNode(name, filename));
      node.lineNumber = lineNumber;
      work.push([node, child]);
    }
  }
}

function sorted({ children, ...node }: Node): StackDiff {
  const largest = (one: StackDiff) => Math.max(one.before, one.after);
  return { ...node, children: Array.from(children.values(), sorted).sort((a, b) => largest(b) - largest(a)) };
}
