// Numbers the prefixes of keys in the order of their first use. Durations are estimated by prefix.
import { keySplit } from '../base/keySplit.js';
import { once } from '../base/lookUps.js';

export interface ComputationPrefixes {
  /** Local id → index into `names`. */
  readonly prefixOf: Int32Array;
  readonly names: readonly string[];
  /** Local id → number in the table. */
  readonly numbers: Int32Array;
}

/** Returns the prefixes of a run that shares no table with others. Keys are split at the first call of the function. */
export function lazyPrefixes(keys: readonly string[]): () => ComputationPrefixes {
  return once(() => new PrefixTable().of(keys));
}

/** The index of the prefix of a single key. */
const FIRST = new Int32Array(1);

/** Half of the largest number of known prefixes. A program may use a new name for every task. */
const GENERATION = 5000;

export class PrefixTable {
  /** Prefixes that were used since the last change of generations. */
  #recent = new Map<string, number>();
  /** Prefixes of the previous generation. */
  #older = new Map<string, number>();
  /** Numbers of prefixes that were forgotten. */
  readonly #free: number[] = [];
  /** Exclusive upper bound of the numbers. */
  size = 0;

  of(keys: readonly string[]): ComputationPrefixes {
    const [only] = keys;
    if (only !== undefined && keys.length === 1) {
      const name = keySplit(only);
      return { prefixOf: FIRST, names: [name], numbers: Int32Array.of(this.#use(name)) };
    }
    const prefixOf = new Int32Array(keys.length);
    const numbers = new Int32Array(keys.length);
    const local = new Map<string, number>();
    const names: string[] = [];
    const table: number[] = [];
    for (let id = 0; id < keys.length; id++) {
      const name = keySplit(keys[id]!);
      let index = local.get(name);
      if (index === undefined) {
        index = names.length;
        local.set(name, index);
        names.push(name);
        table.push(this.#use(name));
      }
      prefixOf[id] = index;
      numbers[id] = table[index]!;
    }
    return { prefixOf, names, numbers };
  }

  /**
   * Returns the number of a prefix. A new prefix may reuse the number of a forgotten one, and at first its expected
   * duration.
   */
  #use(name: string): number {
    const known = this.#recent.get(name);
    if (known !== undefined) return known;
    const number = this.#older.get(name) ?? this.#free.pop() ?? this.size++;
    this.#older.delete(name);
    if (this.#recent.size >= GENERATION) {
      for (const forgotten of this.#older.values()) this.#free.push(forgotten);
      this.#older = this.#recent;
      this.#recent = new Map();
    }
    this.#recent.set(name, number);
    return number;
  }
}
