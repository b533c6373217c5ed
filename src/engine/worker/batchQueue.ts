// The batches that wait in an isolate. Those of one run stay in the order in which they arrived, because later ones may use
// results of earlier ones. Of several runs, the one whose batches have the highest priority is next; with equal priorities,
// the one whose batch arrived first.
import { type Batch, NO_VALUES } from '../../protocol/isolateMessages.js';

/** In place of the values of a batch that the isolate has taken. */
const TAKEN = {
  inputs: NO_VALUES,
  constants: NO_VALUES,
  packed: undefined,
  lacking: undefined,
  uncloneable: undefined,
  uncloneableInputs: undefined,
};

export class BatchQueue {
  /** The waiting batches, in the order in which they arrived. */
  readonly waiting: Batch[] = [];
  /** The batch that `next` returned last: its run, and the highest priority of its run's batches. */
  #current = { run: -1, priority: Number.NEGATIVE_INFINITY };
  /** Whether another run has a batch that should run before the rest of the one that `next` returned last. */
  isUrgent = false;

  get length(): number {
    return this.waiting.length;
  }

  push(batch: Batch): void {
    this.waiting.push(batch);
    const priority = priorityOf(batch);
    if (priority <= this.#current.priority) return;
    if (batch.run === this.#current.run) this.#current.priority = priority;
    else this.isUrgent = true;
  }

  /**
   * Puts back the batch that `next` returned last.
   *
   * @param from index of the first remaining task, if the values of the batch have been taken
   */
  putBack(batch: Batch, from?: number): void {
    this.waiting.unshift(from === undefined ? batch : { ...batch, ...TAKEN, ids: batch.ids.subarray(from) });
  }

  /** Removes the batch that should run next, and returns it. */
  next(): Batch | undefined {
    this.isUrgent = false;
    const [first] = this.waiting;
    if (first === undefined) return undefined;
    let urgent = first;
    for (const batch of this.waiting) if (priorityOf(batch) > priorityOf(urgent)) urgent = batch;
    // A batch that is behind a less urgent one of its run lends that one its priority.
    const index = this.waiting.findIndex(({ run }) => run === urgent.run);
    const [batch] = this.waiting.splice(index, 1);
    this.#current.run = urgent.run;
    this.#current.priority = priorityOf(urgent);
    return batch;
  }
}

function priorityOf({ priority = 0 }: Batch): number {
  return priority;
}
