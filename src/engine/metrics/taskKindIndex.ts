// Maps the number of a task to its kind, for every task that samples of the profiler may still name: tasks of present
// computations, and of recently forgotten ones.
import { firstWhere } from '../../base/lookUps.js';
import type { Computation } from '../../protocol/clusterObserver.js';
import { type TaskKind, taskKinds } from '../../protocol/taskKinds.js';

/**
 * Most forgotten computations, and most of their tasks, that are remembered, because their last samples may arrive
 * later.
 */
const MAX_FORGOTTEN = 10_000;
const MAX_FORGOTTEN_TASKS = 1_000_000;

/** The data kept of a computation. Its keys alone would take 50 bytes a task. */
interface Entry {
  readonly firstId: number;
  readonly size: number;
  /** Undefined if all tasks have the first kind. */
  readonly kindOf: Int32Array | undefined;
  readonly kinds: readonly TaskKind[];
  forgotten: boolean;
}

export class TaskKindIndex {
  /** Entries by `firstId`, ascending. */
  #entries: Entry[] = [];
  #forgotten = 0;
  #forgottenTasks = 0;

  /** Adds a computation. Cost: one step per task. */
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

  /** Returns the prefix and span of the task `firstId + id`; undefined if unknown. Cost: a binary search. */
  readonly kindOf = (task: number): TaskKind | undefined => {
    const entry = this.#entries[this.#below(task)];
    if (entry === undefined || task - entry.firstId >= entry.size) return undefined;
    return entry.kinds[entry.kindOf === undefined ? 0 : (entry.kindOf[task - entry.firstId] ?? -1)];
  };

  /** Discards the older half of the finished computations. */
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

  /** Returns the last entry whose first id is at most `id`; -1 if there is none. */
  #below(id: number): number {
    return firstWhere(0, this.#entries.length, (at) => this.#entries[at]!.firstId > id) - 1;
  }
}
