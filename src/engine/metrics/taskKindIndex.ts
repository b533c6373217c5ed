// From the number of a task to what it is counted under, for every task of a cluster that samples of the profiler may
// still name: those of computations that are there, and of the last that were forgotten.
import { firstWhere } from '../../base/lookUps.js';
import type { Computation } from '../../protocol/clusterObserver.js';
import { type TaskKind, taskKinds } from '../../protocol/taskKinds.js';

/** Of computations that are over, whose last samples may still come: so many are remembered, with so many tasks. */
const MAX_FORGOTTEN = 10_000;
const MAX_FORGOTTEN_TASKS = 1_000_000;

/** Nothing else of a computation: its keys alone would be 50 bytes a task. */
interface Entry {
  readonly firstId: number;
  readonly size: number;
  /** Undefined: all tasks are of the first kind. */
  readonly kindOf: Int32Array | undefined;
  readonly kinds: readonly TaskKind[];
  forgotten: boolean;
}

export class TaskKindIndex {
  /** By `firstId`, ascending. */
  #entries: Entry[] = [];
  #forgotten = 0;
  #forgottenTasks = 0;

  /** Cost: one step per task. */
  added(computation: Computation): void {
    const { firstId, size } = computation;
    const { kinds, kindOf } = taskKinds(computation);
    const entry = { firstId, size, kinds, kindOf: kinds.length > 1 ? kindOf : undefined, forgotten: false };
    const at = this.#below(firstId) + 1;
    if (at === this.#entries.length) this.#entries.push(entry);
    else this.#entries.splice(at, 0, entry);
  }

  forgotten({ firstId, size }: Computation): void {
    const entry = this.#entries[this.#below(firstId)];
    if (entry === undefined || entry.forgotten || entry.firstId !== firstId) return;
    entry.forgotten = true;
    this.#forgotten++;
    this.#forgottenTasks += size;
    if (this.#forgotten > MAX_FORGOTTEN || this.#forgottenTasks > MAX_FORGOTTEN_TASKS) this.#sweep();
  }

  /** The prefix and span of the task `firstId + id`; undefined: nobody knows. Cost: a binary search. */
  readonly kindOf = (task: number): TaskKind | undefined => {
    const entry = this.#entries[this.#below(task)];
    if (entry === undefined || task - entry.firstId >= entry.size) return undefined;
    return entry.kinds[entry.kindOf === undefined ? 0 : (entry.kindOf[task - entry.firstId] ?? -1)];
  };

  /** The older half of those that are over goes. */
  #sweep(): void {
    let [count, tasks] = [this.#forgotten / 2, this.#forgottenTasks / 2];
    this.#entries = this.#entries.filter(({ forgotten, size }) => {
      if (!forgotten || (count <= 0 && tasks <= 0)) return true;
      count--;
      tasks -= size;
      this.#forgotten--;
      this.#forgottenTasks -= size;
      return false;
    });
  }

  /** The last entry whose first id is not above `id`; -1: none. */
  #below(id: number): number {
    return firstWhere(0, this.#entries.length, (at) => this.#entries[at]!.firstId > id) - 1;
  }
}
