// Call trees in the form of Dask's profiles: each node is a function, with how many samples found it on the stack in
// this place, itself or what it called. A tree is plain JSON. All functions here leave their arguments alone.

export interface FrameDescription {
  readonly name: string;
  /** A path; empty for the root and for code that is part of the engine. */
  readonly filename: string;
  /** Where the function begins, from 1; 0: not known. */
  readonly lineNumber: number;
}

export interface CallTree {
  /** `name;filename;lineNumber`; of the root `root`. */
  readonly identifier: string;
  readonly description: FrameDescription;
  /** Samples of this function in this place, with those of everything that it called. */
  readonly count: number;
  /** By identifier. */
  readonly children: { readonly [identifier: string]: CallTree };
  /** Line of the file → samples that found the function itself there. Only where lines are known. */
  readonly lines?: { readonly [line: number]: number };
}

/** A tree that is being built. */
export interface MutableCallTree extends CallTree {
  count: number;
  readonly children: { [identifier: string]: MutableCallTree };
  lines?: { [line: number]: number };
}

export const ROOT_IDENTIFIER = 'root';

/** A tree without samples. */
export function emptyTree(): MutableCallTree {
  return {
    identifier: ROOT_IDENTIFIER,
    description: { name: '', filename: '', lineNumber: 0 },
    count: 0,
    children: {},
  };
}

export function frameIdentifier({ name, filename, lineNumber }: FrameDescription): string {
  return `${name};${filename};${lineNumber}`;
}

/** The child of a node for this frame, made if there is none. */
export function childOf(node: MutableCallTree, description: FrameDescription): MutableCallTree {
  const identifier = frameIdentifier(description);
  // An identifier holds two semicolons, so it is never the name of something that every object inherits.
  let child = node.children[identifier];
  if (child === undefined) {
    child = { identifier, description, count: 0, children: {} };
    node.children[identifier] = child;
  }
  return child;
}

/** Counts samples in one line of a node's own code. */
export function addLine(node: MutableCallTree, line: number, count: number): void {
  if (line === 0) return;
  node.lines ??= {};
  node.lines[line] = (node.lines[line] ?? 0) + count;
}

/**
 * The sum of some trees of the same root, as Dask's `profile.merge`. Associative and commutative, and the total of the
 * result is the total of the parts. No trees give an empty tree.
 *
 * Cost: one visit per node of the parts; deep trees do not recurse.
 */
export function mergeTrees(...trees: readonly CallTree[]): CallTree {
  const root = emptyTree();
  const work: [MutableCallTree, CallTree][] = trees.map((tree) => [root, tree]);
  for (let next = work.pop(); next !== undefined; next = work.pop()) {
    const [into, from] = next;
    into.count += from.count;
    for (const [line, count] of Object.entries(from.lines ?? {})) addLine(into, Number(line), count);
    for (const child of Object.values(from.children)) work.push([childOf(into, child.description), child]);
  }
  return root;
}

/** Samples of a node's own code, without what it called. */
export function selfCount(tree: CallTree): number {
  let called = 0;
  for (const child of Object.values(tree.children)) called += child.count;
  return tree.count - called;
}

/** Called for every node below the root that has samples of its own, with the frames from the outermost to the node's. */
export function forEachStack(
  tree: CallTree,
  visit: (frames: readonly FrameDescription[], self: number, node: CallTree) => void,
): void {
  const path: FrameDescription[] = [];
  const work: { node: CallTree; depth: number }[] = [];
  const push = (node: CallTree, depth: number): void => {
    for (const child of Object.values(node.children).reverse()) work.push({ node: child, depth });
  };
  push(tree, 0);
  for (let next = work.pop(); next !== undefined; next = work.pop()) {
    const { node, depth } = next;
    path.length = depth;
    path.push(node.description);
    const self = selfCount(node);
    if (self > 0) visit(path, self, node);
    push(node, depth + 1);
  }
}
