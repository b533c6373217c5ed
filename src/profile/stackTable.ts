// Stacks as numbers: a stack is its innermost frame and the number of the caller's stack. Samples of hours share a few
// thousand stacks, so a sample costs a number, and a call tree is made when somebody asks for one.
import {
  addLine,
  type CallTree,
  childOf,
  emptyTree,
  type FrameDescription,
  type MutableCallTree,
} from './callTree.js';

/** The stack without frames. */
export const NO_STACK = 0;

const DEFAULT_CAPACITY = 100_000;

export class StackTable {
  readonly #parents: number[] = [-1];
  readonly #frames: FrameDescription[] = [{ name: '', filename: '', lineNumber: 0 }];
  readonly #lines: number[] = [0];
  readonly #known = new Map<string, number>();
  readonly #capacity: number;

  /**
   * @param capacity stacks that are kept apart at most, default 100,000 (~30 MB); frames beyond it count for their
   *   caller, so no sample is lost
   */
  constructor(capacity: number = DEFAULT_CAPACITY) {
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#parents.length;
  }

  /** The number of the stack `parent` with one more frame; `line` is where the frame's own code is, 0 if that does not matter. */
  add(parent: number, frame: FrameDescription, line = 0): number {
    const known = `${parent};${line};${frame.lineNumber};${frame.name};${frame.filename}`;
    let stack = this.#known.get(known);
    if (stack !== undefined) return stack;
    if (this.size >= this.#capacity) return parent;
    stack = this.size;
    this.#known.set(known, stack);
    this.#parents.push(parent);
    this.#frames.push(frame);
    this.#lines.push(line);
    return stack;
  }

  /**
   * The call tree of some samples: `count` samples of each stack.
   *
   * Cost: one step per frame of the distinct stacks.
   */
  tree(counts: ReadonlyMap<number, number>): CallTree {
    const nodes: (MutableCallTree | undefined)[] = new Array(this.size);
    const root = emptyTree();
    nodes[NO_STACK] = root;
    for (const [stack, count] of counts) {
      if (count === 0) continue;
      const node = this.#node(stack, nodes, root);
      addLine(node, this.#lines[stack]!, count);
      // A stack with a line is the same function as the stack without: both lead to one node, and one way to the root.
      for (let at = stack; at > NO_STACK; at = this.#parents[at]!) this.#node(at, nodes, root).count += count;
      root.count += count;
    }
    return root;
  }

  #node(stack: number, nodes: (MutableCallTree | undefined)[], root: MutableCallTree): MutableCallTree {
    const path: number[] = [];
    let at = stack;
    while (nodes[at] === undefined) {
      path.push(at);
      at = this.#parents[at]!;
    }
    let node = nodes[at] ?? root;
    for (let step = path.pop(); step !== undefined; step = path.pop()) {
      node = childOf(node, this.#frames[step]!);
      nodes[step] = node;
    }
    return node;
  }
}
