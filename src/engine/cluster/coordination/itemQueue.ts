// The items of one queue. A pure state machine: items leave in the order in which they came, and calls are answered in
// their order. A call that leaves before its answer changes nothing: its items return to their places.
import type { Leave } from './waitFor.js';

/** An item, which may be equal to another one. */
interface Item<V> {
  readonly value: V;
}

interface Put<V> {
  readonly item: Item<V>;
  readonly maxSize: number;
  readonly done: () => void;
}

interface Get<V> {
  readonly count: number;
  /** Items that the call has so far. Only the first waiting call has some. */
  readonly items: Item<V>[];
  readonly answer: (values: V[]) => void;
}

export class ItemQueue<V> {
  /** In the order of insertion: the first item of a long array cannot be removed in constant time. */
  #items = new Set<Item<V>>();
  readonly #puts = new Set<Put<V>>();
  readonly #gets = new Set<Get<V>>();

  /** Number of items, without those of calls of `put` that wait. */
  get size(): number {
    return this.#items.size;
  }

  get isUnused(): boolean {
    return this.#items.size === 0 && this.#puts.size === 0 && this.#gets.size === 0;
  }

  /**
   * Appends an item when there are fewer than `maxSize`.
   *
   * @param maxSize 0: no limit
   * @returns undefined if the item was appended at once
   */
  put(value: V, maxSize: number, done: () => void): Leave | undefined {
    const call = { item: { value }, maxSize, done };
    this.#puts.add(call);
    this.#settle();
    if (!this.#puts.has(call)) return undefined;
    return () => {
      if (this.#puts.delete(call)) this.#settle();
    };
  }

  /** Takes `count` items. Items that come before there are enough count as taken, so a full queue has room again. */
  get(count: number, answer: (values: V[]) => void): Leave | undefined {
    const call: Get<V> = { count, items: [], answer };
    this.#gets.add(call);
    this.#settle();
    if (!this.#gets.has(call)) return undefined;
    return () => {
      if (!this.#gets.delete(call)) return;
      if (call.items.length > 0) this.#items = new Set([...call.items, ...this.#items]);
      this.#settle();
    };
  }

  takeAll(): V[] {
    const values = Array.from(this.#items, ({ value }) => value);
    this.#items.clear();
    this.#settle();
    return values;
  }

  /** Carries out what is possible. Each step makes room for the next one. */
  #settle(): void {
    while (this.#admit() || this.#serve());
  }

  /** Appends the item of the first waiting `put` if there is room. */
  #admit(): boolean {
    const [call] = this.#puts;
    if (call === undefined || (call.maxSize > 0 && this.#items.size >= call.maxSize)) return false;
    this.#puts.delete(call);
    this.#items.add(call.item);
    call.done();
    return true;
  }

  /** Gives an item to the first waiting `get`. */
  #serve(): boolean {
    const [call] = this.#gets;
    const [item] = this.#items;
    if (call === undefined || item === undefined) return false;
    this.#items.delete(item);
    call.items.push(item);
    if (call.items.length === call.count) {
      this.#gets.delete(call);
      call.answer(call.items.map(({ value }) => value));
    }
    return true;
  }
}
