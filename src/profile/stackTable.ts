// Numbers for stacks: a stack is its innermost frame and the number of the caller's stack. The samples of hours share
// a few thousand stacks, so a sample costs one number. Call trees are built on request.
import { type CallTree, type FrameDescription, TreeBuilder } from './callTree.js';

/** Number of the stack without frames. */
export const NO_STACK = 0;

const DEFAULT_CAPACITY = 100_000;

export class StackTable {
  readonly #parents: number[] = [-1];
  readonly #frames: FrameDescription[] = [{ name: '', filename: '', lineNumber: 0 }];
  readonly #lines: number[] = [0];
  readonly #known = new Map<string, number>();
  readonly #capacity: number;

  /**
   * @param capacity most stacks that are kept apart, default 100,000 (~30 MB); further frames count for their caller,
   * so no sample is lost
   */
  constructor(capacity: number = DEFAULT_CAPACITY) {
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#parents.length;
  }

  /**
   * Returns the number of the stack `parent` with one more frame. `line` is the line of the frame's own code; 0 if
   * irrelevant.
   */
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
   * Returns the call tree of `count` samples of each stack.
   *
   * Cost: one step per frame of the distinct stacks.
   */
  tree(counts: ReadonlyMap<number, number>): CallTree {
    const tree = new TreeBuilder(this.#parents, (stack) => this.#frames[stack]!, NO_STACK + 1);
    for (const [stack, count] of counts) if (count > 0) tree.add(stack, this.#lines[stack]!, count);
    return tree.root;
  }
}
