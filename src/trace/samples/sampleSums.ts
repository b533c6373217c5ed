// Sums of older samples: the number of samples per stack in blocks of time. When there are too many rows, the blocks
// double in length. If that is not enough, the rows lose details. The total number of samples stays exact. Prefixes and
// stack frames matter more than times: without them, the tree of a prefix would lack most of its samples.
import { getOrMake } from '../../base/lookUps.js';
import { OTHERS } from '../../protocol/metrics.js';
import type { SampleFacts } from './sampleRows.js';

/** Limit for rows, some 20 MB. */
const DEFAULT_ROWS = 50_000;
/** Initial length of a block in seconds. */
const BLOCK_SECONDS = 1;

interface Step {
  /** Number of blocks up to which blocks are merged before this step. */
  readonly blocks: number;
  /** Removes a detail. */
  readonly coarser: (row: SampleFacts) => SampleFacts;
}

const STEPS: readonly Step[] = [
  { blocks: 8, coarser: (row) => ({ ...row, line: 0 }) },
  { blocks: 2, coarser: (row) => ({ ...row, span: '' }) },
  { blocks: 2, coarser: (row) => ({ ...row, prefix: row.prefix === '' ? '' : OTHERS }) },
  { blocks: 2, coarser: (row) => ({ ...row, frame: -1 }) },
];

interface Sum {
  row: SampleFacts;
  count: number;
  /** Sum of its samples' times, in seconds since the start of the block. */
  seconds: number;
  readonly block: number;
}

export class SampleSums {
  readonly #limit: number;
  #sums = new Map<string, Sum>();
  #blockSeconds = BLOCK_SECONDS;
  /** Number of steps that were taken. */
  #steps = 0;

  constructor(limit: number = DEFAULT_ROWS) {
    this.#limit = limit;
  }

  add(row: SampleFacts): void {
    this.#count(row);
    while (this.#sums.size > this.#limit && this.#shrink());
  }

  /**
   * Returns the sums as rows, ascending by time. The time of a row is the mean time of its samples; a row belongs to no
   * task.
   */
  rows(): SampleFacts[] {
    return Array.from(this.#sums.values(), ({ row, count, seconds, block }) => ({
      ...row,
      count,
      time: block * this.#blockSeconds + seconds / count,
    })).sort((a, b) => a.time - b.time);
  }

  #count(sample: SampleFacts): void {
    let row = sample;
    for (let step = 0; step < this.#steps; step++) row = STEPS[step]!.coarser(row);
    const block = Math.floor(row.time / this.#blockSeconds);
    const { worker, thread, prefix, span, frame, line, interval, count } = row;
    const name = `${block} ${worker} ${thread} ${frame} ${line} ${interval} ${JSON.stringify([prefix, span])}`;
    const seconds = (row.time - block * this.#blockSeconds) * count;
    const sums = getOrMake(this.#sums, name, () => ({
      row: { ...row, task: -1 },
      count: 0,
      seconds: 0,
      block,
    }));
    sums.count += count;
    sums.seconds += seconds;
  }

  /** Merges blocks or removes a detail. Returns false if neither is possible. */
  #shrink(): boolean {
    const rows = this.rows();
    const blocks = new Set(Array.from(this.#sums.values(), ({ block }) => block)).size;
    const next = STEPS[this.#steps];
    if (blocks > (next?.blocks ?? 2)) this.#blockSeconds *= 2;
    else if (next !== undefined) this.#steps++;
    else return false;
    this.#sums = new Map();
    for (const row of rows) this.#count(row);
    return true;
  }
}
