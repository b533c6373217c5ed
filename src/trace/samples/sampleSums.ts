// Samples that are too old to be kept one by one: how often each stack was seen in blocks of time that double their length
// whenever there are too many rows. When that does not help any more the rows say less; the total is never lost.
import { OTHERS } from '../../protocol/metrics.js';
import type { SampleFacts } from './sampleRows.js';

/** Rows that are kept at most: some 8 MB. */
const DEFAULT_ROWS = 20_000;
/** Seconds of the first blocks. */
const BLOCK_SECONDS = 1;
/** With fewer blocks than this time is not made coarser. */
const LEAST_BLOCKS = 8;

/** What is given up, one after the other, where the rows of few blocks are too many. */
const COARSER: readonly ((row: SampleFacts) => SampleFacts)[] = [
  (row) => ({ ...row, line: 0 }),
  (row) => ({ ...row, span: '' }),
  (row) => ({ ...row, prefix: row.prefix === '' ? '' : OTHERS }),
  (row) => ({ ...row, frame: -1 }),
];

interface Sum {
  row: SampleFacts;
  count: number;
  /** Times of its samples, from the beginning of the block. */
  seconds: number;
  readonly block: number;
}

export class SampleSums {
  readonly #limit: number;
  #sums = new Map<string, Sum>();
  #blockSeconds = BLOCK_SECONDS;
  /** So many of COARSER have been given up. */
  #coarser = 0;

  constructor(limit: number = DEFAULT_ROWS) {
    this.#limit = limit;
  }

  /** Rows that are kept. */
  get length(): number {
    return this.#sums.size;
  }

  add(row: SampleFacts): void {
    this.#count(row);
    while (this.#sums.size > this.#limit && this.#shrink());
  }

  /** Sums as rows, ascending by time: of each the mean time of its samples. They belong to no single task. */
  rows(): SampleFacts[] {
    return Array.from(this.#sums.values(), ({ row, count, seconds, block }) => ({
      ...row,
      count,
      time: block * this.#blockSeconds + seconds / count,
    })).sort((a, b) => a.time - b.time);
  }

  #count(sample: SampleFacts): void {
    let row = sample;
    for (let step = 0; step < this.#coarser; step++) row = COARSER[step]!(row);
    const block = Math.floor(row.time / this.#blockSeconds);
    const { worker, thread, prefix, span, frame, line, interval, count } = row;
    const name = `${block} ${worker} ${thread} ${frame} ${line} ${interval} ${JSON.stringify([prefix, span])}`;
    const seconds = (row.time - block * this.#blockSeconds) * count;
    const known = this.#sums.get(name);
    if (known === undefined) {
      this.#sums.set(name, { row: { ...row, task: -1 }, count, seconds, block });
    } else {
      known.count += count;
      known.seconds += seconds;
    }
  }

  /** False if there is nothing left to give up. */
  #shrink(): boolean {
    const rows = this.rows();
    const blocks = new Set(Array.from(this.#sums.values(), ({ block }) => block)).size;
    if (blocks > LEAST_BLOCKS) this.#blockSeconds *= 2;
    else if (this.#coarser < COARSER.length) this.#coarser++;
    else return false;
    this.#sums = new Map();
    for (const row of rows) this.#count(row);
    return true;
  }
}
