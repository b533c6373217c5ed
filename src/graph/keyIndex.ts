// Finds the task of a key in a compiled graph.

/** Key → id. */
export type KeyIndex = Pick<ReadonlyMap<string, number>, 'get' | 'has'>;

const NO_TASK = -1;

/** Key → rank over the compiler's own key index. */
export class RankIndex implements KeyIndex {
  readonly #slots: ReadonlyMap<string, number>;
  readonly #slotTask: readonly number[];
  readonly #ranks: Int32Array;

  constructor(slots: ReadonlyMap<string, number>, slotTask: readonly number[], ranks: Int32Array) {
    this.#slots = slots;
    this.#slotTask = slotTask;
    this.#ranks = ranks;
  }

  get(key: string): number | undefined {
    const slot = this.#slots.get(key);
    const task = slot === undefined ? NO_TASK : this.#slotTask[slot]!;
    return task < 0 ? undefined : this.#ranks[task];
  }

  has(key: string): boolean {
    return this.get(key) !== undefined;
  }
}
