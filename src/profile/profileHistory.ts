// Keeps the samples of a cluster in bounded memory. Recent cycles keep every sample with its time. Older cycles keep
// a count per stack, in blocks that double their length whenever there are too many. The total is never lost.
import { getOrMake, sumOf } from '../base/lookUps.js';
import { type ProfileCycle, STACK_IDLE, STACK_RUNTIME } from '../protocol/clusterObserver.js';
import { OTHERS } from '../protocol/metrics.js';
import type { CallTree, FrameDescription } from './callTree.js';
import { NO_STACK, StackTable } from './stackTable.js';

export interface SampleLabel {
  /** Prefix of the task's key; empty outside tasks. */
  readonly prefix: string;
  /** Tags of the span, e.g. `["Alice", "load"]`; empty outside tasks. */
  readonly span: readonly string[];
}

export interface ProfileQuery {
  /** Selects samples of tasks with this prefix. */
  readonly key?: string;
  /** Selects samples of tasks in spans whose tags begin with these. */
  readonly span?: readonly string[];
  /** Selects samples from `start` to before `stop`, in seconds since the epoch. Default: all. */
  readonly start?: number;
  readonly stop?: number;
  /** Selects samples of these threads. */
  readonly threads?: readonly string[];
}

/** Samples of one thread, either single or summed up. Columns of the same length. */
interface Block {
  readonly thread: string;
  readonly start: number;
  readonly stop: number;
  /** Times of the samples. Null if the samples were summed up; they count for the middle of the block then. */
  readonly times: Float64Array | null;
  readonly stacks: Int32Array;
  readonly labels: Int32Array;
  /** Number of samples per row. Null means one each. */
  readonly counts: Float64Array | null;
}

export interface ProfileHistoryOptions {
  /** Cycles kept per thread, at least 4, default 600: ten minutes of cycles of one second. */
  readonly maxCycles?: number;
  readonly maxStacks?: number;
  /** Most labels (prefix and span) that are kept apart, default 20,000. Further samples get the prefix `(others)`. */
  readonly maxLabels?: number;
}

const OUTSIDE: SampleLabel = { prefix: '', span: [] };
const RUNTIME: FrameDescription = { name: '(runtime)', filename: '', lineNumber: 0 };

export class ProfileHistory {
  readonly #stacks: StackTable;
  readonly #runtime: number;
  readonly #labels: SampleLabel[] = [OUTSIDE];
  readonly #labelIndex = new Map<string, number>([[labelKey(OUTSIDE), 0]]);
  /** Thread → its blocks, oldest first. */
  readonly #blocks = new Map<string, Block[]>();
  readonly #maxCycles: number;
  readonly #maxLabels: number;

  constructor({ maxCycles = 600, maxStacks, maxLabels = 20_000 }: ProfileHistoryOptions = {}) {
    this.#maxCycles = Math.max(4, maxCycles);
    this.#maxLabels = maxLabels;
    this.#stacks = new StackTable(maxStacks);
    this.#runtime = this.#stacks.add(NO_STACK, RUNTIME);
  }

  /**
   * Adds a cycle, without the time in which no task ran.
   * @param labelOf returns prefix and span for a task's number in the cycle; undefined if unknown
   */
  add(cycle: ProfileCycle, labelOf: (task: number) => SampleLabel | undefined): void {
    const numbers = this.#intern(cycle);
    const times: number[] = [];
    const stacks: number[] = [];
    const labels: number[] = [];
    const known = new Map<number, number>([[-1, 0]]);
    for (const [sample, task] of cycle.tasks.entries()) {
      const label = getOrMake(known, task, () => this.#label(labelOf(task) ?? OUTSIDE));
      const node = cycle.stacks[sample]!;
      if (node === STACK_IDLE || (node === STACK_RUNTIME && label === 0)) continue;
      times.push(cycle.times[sample]!);
      labels.push(label);
      stacks.push(node === STACK_RUNTIME ? this.#runtime : this.#stackOf(cycle, sample, numbers));
    }
    const { thread, start, stop } = cycle;
    const blocks = getOrMake(this.#blocks, thread, () => []);
    blocks.push({
      thread,
      start,
      stop,
      times: Float64Array.from(times),
      stacks: Int32Array.from(stacks),
      labels: Int32Array.from(labels),
      counts: null,
    });
    if (blocks.length > this.#maxCycles) mergeOlderHalf(blocks);
  }

  /**
   * Returns the selected samples as one tree. Adjacent windows contain every sample exactly once.
   *
   * @source Dask's `Client.profile`
   */
  profile(query: ProfileQuery = {}): CallTree {
    const { start = Number.NEGATIVE_INFINITY, stop = Number.POSITIVE_INFINITY } = query;
    const totals = new Map<number, number>();
    const wanted = this.#wantedLabels(query);
    for (const block of this.#selected(query.threads)) {
      if (block.stop < start || block.start >= stop) continue;
      const middle = (block.start + block.stop) / 2;
      for (const [index, stack] of block.stacks.entries()) {
        const time = block.times?.[index] ?? middle;
        if (time < start || time >= stop || wanted[block.labels[index]!] !== 1) continue;
        totals.set(stack, (totals.get(stack) ?? 0) + (block.counts?.[index] ?? 1));
      }
    }
    return this.#stacks.tree(totals);
  }

  /** Number of kept blocks, each of one or more cycles. */
  get blockCount(): number {
    return sumOf(this.#blocks.values(), ({ length }) => length);
  }

  #selected(threads: readonly string[] | undefined): Block[] {
    if (threads === undefined) return [...this.#blocks.values()].flat();
    return threads.flatMap((thread) => this.#blocks.get(thread) ?? []);
  }

  #wantedLabels({ key, span }: ProfileQuery): Uint8Array {
    return Uint8Array.from(this.#labels, (label) => {
      if (key !== undefined && label.prefix !== key) return 0;
      return span === undefined || span.every((tag, index) => label.span[index] === tag) ? 1 : 0;
    });
  }

  /** Returns the table's numbers for the cycle's stack nodes. */
  #intern(cycle: ProfileCycle): Int32Array {
    const numbers = new Int32Array(cycle.parents.length);
    for (let node = 0; node < numbers.length; node++) numbers[node] = this.#add(cycle, node, numbers);
    return numbers;
  }

  #add({ parents, names, files, lines }: ProfileCycle, node: number, numbers: Int32Array, line = 0): number {
    const parent = parents[node]!;
    const frame = { name: names[node]!, filename: files[node]!, lineNumber: lines[node]! };
    return this.#stacks.add(parent < 0 ? NO_STACK : numbers[parent]!, frame, line);
  }

  #stackOf(cycle: ProfileCycle, sample: number, numbers: Int32Array): number {
    const node = cycle.stacks[sample]!;
    const line = cycle.sampleLines[sample]!;
    return line === 0 ? numbers[node]! : this.#add(cycle, node, numbers, line);
  }

  #label(label: SampleLabel): number {
    const key = labelKey(label);
    const known = this.#labelIndex.get(key);
    if (known !== undefined) return known;
    if (this.#labels.length >= this.#maxLabels && label.prefix !== OTHERS)
      return this.#label({ prefix: OTHERS, span: [] });
    const index = this.#labels.push({ prefix: label.prefix, span: [...label.span] }) - 1;
    this.#labelIndex.set(key, index);
    return index;
  }
}

function labelKey({ prefix, span }: SampleLabel): string {
  return JSON.stringify([prefix, ...span]);
}

/** Merges pairs of neighbours among the older half of the blocks. */
function mergeOlderHalf(blocks: Block[]): void {
  const older = blocks.splice(0, 2 * Math.floor(blocks.length / 4));
  const merged: Block[] = [];
  for (let index = 0; index < older.length; index += 2) merged.push(sumUp(older[index]!, older[index + 1]!));
  blocks.unshift(...merged);
}

function sumUp(first: Block, second: Block): Block {
  /** Label → stack → count. */
  const sums = new Map<number, Map<number, number>>();
  let size = 0;
  for (const { stacks, labels, counts } of [first, second]) {
    for (const [index, stack] of stacks.entries()) {
      const label = labels[index]!;
      const ofLabel = getOrMake(sums, label, () => new Map());
      const before = ofLabel.get(stack);
      if (before === undefined) size++;
      ofLabel.set(stack, (before ?? 0) + (counts?.[index] ?? 1));
    }
  }
  const block = {
    thread: first.thread,
    start: first.start,
    stop: second.stop,
    times: null,
    stacks: new Int32Array(size),
    labels: new Int32Array(size),
    counts: new Float64Array(size),
  };
  let at = 0;
  for (const [label, ofLabel] of sums)
    for (const [stack, count] of ofLabel) {
      block.labels[at] = label;
      block.stacks[at] = stack;
      block.counts[at++] = count;
    }
  return block;
}
