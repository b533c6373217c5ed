// What the client of a simulated run hands over when: each submission follows the result that it followed when it was
// recorded, or the submission before, after as many seconds as then.
import { countedOffsets, groupedRows } from '../lanes.js';
import type { ReplayGraph, Submission } from './replayTypes.js';

const NONE = -1;

export class HandOver {
  readonly #submissions: readonly Submission[];
  readonly #offsets: Int32Array;
  readonly #tasks: Int32Array;
  /** The first submission that each task causes, and beside each submission the next of the same task; or -1. */
  readonly #first: Int32Array;
  readonly #next: Int32Array;

  constructor({ size, submissionOf, submissions }: ReplayGraph) {
    this.#submissions = submissions;
    this.#offsets = countedOffsets(submissionOf, submissions.length);
    this.#tasks = groupedRows(submissionOf, this.#offsets);
    this.#first = new Int32Array(size).fill(NONE);
    this.#next = new Int32Array(submissions.length).fill(NONE);
    for (let i = submissions.length - 1; i >= 0; i--) {
      const { cause } = submissions[i]!;
      if (cause < 0) continue;
      this.#next[i] = this.#first[cause]!;
      this.#first[cause] = i;
    }
  }

  tasksOf(submission: number): Int32Array {
    return this.#tasks.subarray(this.#offsets[submission]!, this.#offsets[submission + 1]!);
  }

  /** The submission that follows one at once, without waiting for a result; or -1. */
  after(submission: number): number {
    const next = submission + 1;
    return this.#submissions[next]?.cause === NONE ? next : NONE;
  }

  /** The first submission that a result causes, and with `next` the others; or -1. */
  causedBy(task: number): number {
    return this.#first[task]!;
  }

  next(submission: number): number {
    return this.#next[submission]!;
  }
}
