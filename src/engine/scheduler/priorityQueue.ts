// Tasks in the order in which they should run: by the priority of their segment, then by id. There is almost always
// only one priority, and the queue is one PriorityBitset and a comparison then. If the tasks of one graph differ in priority,
// the bitset has their places in the order instead of their ids.

import { countsOf } from '../../base/lookUps.js';
import { PriorityBitset } from '../../base/priorityBitset.js';

export class PriorityQueue {
  #ordinary: PriorityBitset;
  /** Queues of priorities other than 0, highest first. */
  #others: { readonly priority: number; readonly ids: PriorityBitset }[] = [];
  #capacity: number;
  readonly #order: TaskOrder | null;

  /** @param order order of the tasks of the only graph; null: by the priority given to `add`, then by id */
  constructor(capacity: number, order: TaskOrder | null = null) {
    this.#capacity = capacity;
    this.#order = order;
    this.#ordinary = new PriorityBitset(capacity);
  }

  get size(): number {
    let size = this.#ordinary.size;
    for (const { ids } of this.#others) size += ids.size;
    return size;
  }

  /** Makes room for ids below `capacity`. */
  reserve(capacity: number): void {
    if (capacity <= this.#capacity) return;
    this.#capacity = Math.max(capacity, 2 * this.#capacity);
    this.#ordinary.reserve(this.#capacity);
    for (const { ids } of this.#others) ids.reserve(this.#capacity);
  }

  has(id: number): boolean {
    if (this.#ordinary.has(this.#placeOf(id))) return true;
    return this.#others.some(({ ids }) => ids.has(id));
  }

  add(id: number, priority: number): void {
    if (this.#order !== null || priority === 0) this.#ordinary.add(this.#placeOf(id));
    else this.#level(priority).add(id);
  }

  delete(id: number): void {
    this.#ordinary.delete(this.#placeOf(id));
    for (const { ids } of this.#others) ids.delete(id);
  }

  /** Returns the task that should run first, or -1. */
  min(): number {
    if (this.#others.length === 0) return this.#taskAt(this.#ordinary.min());
    for (const { priority, ids } of this.#others) if (priority > 0 && ids.size > 0) return ids.min();
    if (this.#ordinary.size > 0) return this.#ordinary.min();
    for (const { ids } of this.#others) if (ids.size > 0) return ids.min();
    return -1;
  }

  /** Returns the first task from `id` on; -1 if there is none. Only if the order of all tasks is that of their ids. */
  minFrom(id: number): number {
    return this.#ordinary.minFrom(id);
  }

  /** Whether the tasks run in the order of their ids. */
  get isPlain(): boolean {
    return this.#order === null && this.#others.every(({ ids }) => ids.size === 0);
  }

  clear(): void {
    this.#ordinary.clear();
    this.#others = [];
  }

  /** Empties the queue and reduces its room to ids below `capacity`. */
  reset(capacity: number): void {
    this.#capacity = capacity;
    this.#ordinary = new PriorityBitset(capacity);
    this.#others = [];
  }

  /** Yields tasks in the order in which they should run. */
  *[Symbol.iterator](): IterableIterator<number> {
    for (const { priority, ids } of this.#others) if (priority > 0) yield* ids;
    for (const place of this.#ordinary) yield this.#taskAt(place);
    for (const { priority, ids } of this.#others) if (priority < 0) yield* ids;
  }

  #placeOf(id: number): number {
    return this.#order === null ? id : this.#order.places[id]!;
  }

  #taskAt(place: number): number {
    return this.#order === null || place < 0 ? place : this.#order.tasks[place]!;
  }

  #level(priority: number): PriorityBitset {
    const known = this.#others.find((level) => level.priority === priority);
    if (known !== undefined) return known.ids;
    const ids = new PriorityBitset(this.#capacity);
    this.#others = [...this.#others.filter((level) => level.ids.size > 0), { priority, ids }].sort(
      (a, b) => b.priority - a.priority,
    );
    return ids;
  }
}

export interface TaskOrder {
  /** Task → priority. */
  readonly priorities: Float64Array;
  /** Task → place. The first place is that of the task that should run first. */
  readonly places: Int32Array;
  /** Place → task. */
  readonly tasks: Int32Array;
}

/** Returns the order by priority, highest first, then by id. Its cost is linear for a bounded number of priorities. */
export function orderByPriority(priorities: Float64Array): TaskOrder {
  const next = new Map<number, number>();
  let first = 0;
  for (const [priority, count] of [...countsOf(priorities)].sort(([a], [b]) => b - a)) {
    next.set(priority, first);
    first += count;
  }
  const places = new Int32Array(priorities.length);
  const tasks = new Int32Array(priorities.length);
  for (const [id, priority] of priorities.entries()) {
    const place = next.get(priority)!;
    next.set(priority, place + 1);
    places[id] = place;
    tasks[place] = id;
  }
  return { priorities, places, tasks };
}
