// Maps the number of a task to its kind, for every task that samples of the profiler may still name: tasks of present
// computations, and of recently forgotten ones.
import { firstWhere } from '../../base/lookUps.js';
import type { Computation } from '../../protocol/clusterObserver.js';
import type { TaskKind, TaskKinds } from '../../protocol/metrics.js';

/**
 * Seconds for which a forgotten computation is remembered, in addition to a cycle of the profiler. A busy worker
 * reports its last samples late.
 */
const REPORT_SECONDS = 5;
/** Most forgotten computations, and most of their tasks, that are remembered within this time. */
const MAX_FORGOTTEN = 10_000;
const MAX_FORGOTTEN_TASKS = 1_000_000;

/** The data kept of a computation: about 500 bytes. Its keys alone would take 50 bytes a task. */
interface Entry {
  readonly firstId: number;
  readonly size: number;
  /** Undefined if all tasks have the first kind. */
  readonly kindOf: TaskKinds['kindOf'] | undefined;
  readonly kinds: readonly TaskKind[];
  /** Time in seconds; Infinity for a present computation. */
  forgottenAt: number;
}

export class TaskKindIndex {
  /** Entries by `firstId`, ascending. */
  #entries: Entry[] = [];
  #forgotten = 0;
  #forgottenTasks = 0;
  #sweptAt = Number.NEGATIVE_INFINITY;
  readonly #clock: () => number;
  /** Seconds for which a forgotten computation is remembered; undefined if no samples are taken. */
  readonly #kept: number | undefined;

  /** @param cycle seconds between two reports of samples; undefined if no samples are taken. Then nothing is kept. */
  constructor(clock: () => number, cycle: number | undefined) {
    this.#clock = clock;
    this.#kept = cycle === undefined ? undefined : cycle + REPORT_SECONDS;
  }

  /** Number of present and remembered computations. */
  get size(): number {
    return this.#entries.length;
  }

  added({ firstId, size }: Computation, { kinds, kindOf }: TaskKinds): void {
    if (this.#kept === undefined) return;
    const entry = {
      firstId,
      size,
      kinds,
      kindOf: kinds.length > 1 ? kindOf : undefined,
      forgottenAt: Number.POSITIVE_INFINITY,
    };
    const at = this.#below(firstId) + 1;
    if (at === this.#entries.length) this.#entries.push(entry);
    else this.#entries.splice(at, 0, entry);
  }

  forgotten({ firstId, size }: Computation): void {
    const entry = this.#entries[this.#below(firstId)];
    if (this.#kept === undefined || entry?.firstId !== firstId || isForgotten(entry)) return;
    const now = this.#clock();
    entry.forgottenAt = now;
    this.#forgotten++;
    this.#forgottenTasks += size;
    if (this.#forgotten > MAX_FORGOTTEN || this.#forgottenTasks > MAX_FORGOTTEN_TASKS)
      this.#sweep(now - this.#kept, this.#forgotten / 2, this.#forgottenTasks / 2);
    else if (now - this.#sweptAt > this.#kept) {
      // Not at each call, because a sweep takes one step per computation.
      this.#sweptAt = now;
      this.#sweep(now - this.#kept, 0, 0);
    }
  }

  /** Returns the prefix and span of the task `firstId + id`; undefined if unknown. Cost: a binary search. */
  readonly kindOf = (task: number): TaskKind | undefined => {
    const entry = this.#entries[this.#below(task)];
    if (entry === undefined || task - entry.firstId >= entry.size) return undefined;
    return entry.kinds[entry.kindOf === undefined ? 0 : (entry.kindOf[task - entry.firstId] ?? -1)];
  };

  /**
   * Discards the computations that were forgotten before a time. Then discards the oldest others until `count`
   * computations and `tasks` tasks have been discarded in all.
   */
  #sweep(before: number, count: number, tasks: number): void {
    this.#entries = this.#entries.filter((entry) => {
      if (!isForgotten(entry) || (entry.forgottenAt >= before && count <= 0 && tasks <= 0)) return true;
      count--;
      tasks -= entry.size;
      this.#forgotten--;
      this.#forgottenTasks -= entry.size;
      return false;
    });
  }

  /** Returns the last entry whose first id is at most `id`; -1 if there is none. */
  #below(id: number): number {
    return firstWhere(0, this.#entries.length, (at) => this.#entries[at]!.firstId > id) - 1;
  }
}

function isForgotten({ forgottenAt }: Entry): boolean {
  return forgottenAt < Number.POSITIVE_INFINITY;
}
