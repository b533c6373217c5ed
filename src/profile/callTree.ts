// Call trees in the form of Dask's profiles. Each node is a function at one place of the stack. Its count is the
// number of samples that found it there. A tree is plain JSON. No function of this file changes its arguments.
import { sumOf } from '../base/lookUps.js';

export interface FrameDescription {
  readonly name: string;
  /** Path of the file; empty for the root and for code of the engine. */
  readonly filename: string;
  /** First line of the function, from 1; 0 if unknown. */
  readonly lineNumber: number;
}

export interface CallTree {
  /** `name;filename;lineNumber`; for the root `root`. */
  readonly identifier: string;
  readonly description: FrameDescription;
  /** Samples of this function at this place, including its callees. */
  readonly count: number;
  /** Callees by identifier. */
  readonly children: { readonly [identifier: string]: CallTree };
  /** Samples of the function's own code by line of the file; absent if lines are unknown. */
  readonly lines?: { readonly [line: number]: number };
}

export interface MutableCallTree extends CallTree {
  count: number;
  readonly children: { [identifier: string]: MutableCallTree };
  lines?: { [line: number]: number };
}

const ROOT_IDENTIFIER = 'root';

/** Returns a tree without samples. */
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

/** Returns the child of a node for this frame, and creates it if needed. */
export function childOf(node: MutableCallTree, description: FrameDescription): MutableCallTree {
  const identifier = frameIdentifier(description);
  // An identifier contains two semicolons, so it never equals an inherited property of every object.
  let child = node.children[identifier];
  if (child === undefined) {
    child = { identifier, description, count: 0, children: {} };
    node.children[identifier] = child;
  }
  return child;
}

/** Counts samples in one line of a node's own code. */
function addLine(node: MutableCallTree, line: number, count: number): void {
  if (line === 0) return;
  node.lines ??= {};
  node.lines[line] = (node.lines[line] ?? 0) + count;
}

/** Builds a call tree from numbered stacks: a stack is its innermost frame and the number of the caller's stack. */
export class TreeBuilder {
  readonly root = emptyTree();
  readonly #parents: ArrayLike<number>;
  readonly #frameOf: (stack: number) => FrameDescription;
  /** Nodes by stack. */
  readonly #nodes: (MutableCallTree | undefined)[];

  /** @param parents the caller's stack of each stack; below 0 for none */
  constructor(parents: ArrayLike<number>, frameOf: (stack: number) => FrameDescription) {
    this.#parents = parents;
    this.#frameOf = frameOf;
    this.#nodes = new Array(parents.length);
  }

  /** Adds samples of a stack. Cost: one step per frame. */
  add(stack: number, line: number, samples: number): void {
    addLine(this.#node(stack), line, samples);
    // Stacks with and without a line are the same function. Both lead to the same node, and to the same path to the
    // root.
    for (let at = stack; at >= 0; at = this.#parents[at]!) this.#node(at).count += samples;
    this.root.count += samples;
  }

  #node(stack: number): MutableCallTree {
    // A loop instead of recursion, because stacks may be deep.
    const path: number[] = [];
    let at = stack;
    while (at >= 0 && this.#nodes[at] === undefined) {
      path.push(at);
      at = this.#parents[at]!;
    }
    let node = this.#nodes[at] ?? this.root;
    for (let step = path.pop(); step !== undefined; step = path.pop()) {
      node = childOf(node, this.#frameOf(step));
      this.#nodes[step] = node;
    }
    return node;
  }
}

/** Returns the samples of a node's own code, without its callees. */
export function selfCount(tree: CallTree): number {
  return tree.count - sumOf(Object.values(tree.children), ({ count }) => count);
}

/**
 * Calls back for every node below the root that has samples of its own, with the frames from the outermost to the
 * node's.
 */
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
