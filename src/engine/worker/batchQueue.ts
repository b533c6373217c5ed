// The batches that wait in an isolate. Those of one run stay in the order in which they arrived, because later ones may use
// results of earlier ones. Of several runs, the one whose batches have the highest priority is next; with equal priorities,
// the one whose batch arrived first.
import { NO_IDS, NO_PACKED, NO_VALUES, type RunBatch } from '../../protocol/isolateMessages.js';

export class BatchQueue {
  readonly #waiting: RunBatch[] = [];
  /** The batch that `next` returned last: its run, and the highest priority of its run's batches. */
  #current = { run: -1, priority: Number.NEGATIVE_INFINITY };
  /** Whether another run has a batch that should run before the rest of the one that `next` returned last. */
  isUrgent = false;

  get length(): number {
    return this.#waiting.length;
  }

  /** The waiting batches, in the order in which they arrived. */
  get waiting(): readonly RunBatch[] {
    return this.#waiting;
  }

  push(batch: RunBatch): void {
    this.#waiting.push(batch);
    const priority = priorityOf(batch);
    if (priority <= this.#current.priority) return;
    if (batch.run === this.#current.run) this.#current.priority = priority;
    else this.isUrgent = true;
  }

  /** Puts the tasks from index `from` of the batch that `next` returned last back. Its values have been taken. */
  putBack(batch: RunBatch, from = 0): void {
    if (from === 0) this.#waiting.unshift(batch);
    else
      this.#waiting.unshift({
        type: 'batch',
        run: batch.run,
        batch: batch.batch,
        priority: batch.priority,
        ids: batch.ids.subarray(from),
        inputs: NO_VALUES,
        constants: NO_VALUES,
        packed: NO_PACKED,
        lacking: NO_IDS,
      });
  }

  /** Removes the batch that should run next, and returns it. */
  next(): RunBatch | undefined {
    this.isUrgent = false;
    const [first] = this.#waiting;
    if (first === undefined) return undefined;
    let urgent = first;
    for (const batch of this.#waiting) if (priorityOf(batch) > priorityOf(urgent)) urgent = batch;
    // A batch that is behind a less urgent one of its run lends that one its priority.
    const index = this.#waiting.findIndex(({ run }) => run === urgent.run);
    const [batch] = this.#waiting.splice(index, 1);
    this.#current.run = urgent.run;
    this.#current.priority = priorityOf(urgent);
    return batch;
  }
}

function priorityOf({ priority = 0 }: RunBatch): number {
  return priority;
}
