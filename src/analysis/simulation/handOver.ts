// The submissions of a simulated client. Each follows the same result, or the previous submission, as in the recording,
// after the same number of seconds.
import { countedOffsets, groupedRows } from '../../base/groups.js';
import type { ReplayGraph, Submission } from './replayTypes.js';

const NONE = -1;

export class HandOver {
  readonly #submissions: readonly Submission[];
  readonly #offsets: Int32Array;
  readonly #tasks: Int32Array;
  /** First submission that follows the result of each task, or -1. */
  readonly #first: Int32Array;
  /** Next submission that follows the same result, by submission, or -1. */
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

  /** Returns the submission that follows another one without waiting for a result, or -1. */
  after(submission: number): number {
    const next = submission + 1;
    return this.#submissions[next]?.cause === NONE ? next : NONE;
  }

  /** Returns the first submission that follows a result, or -1; `next` gives the others. */
  causedBy(task: number): number {
    return this.#first[task]!;
  }

  next(submission: number): number {
    return this.#next[submission]!;
  }
}
