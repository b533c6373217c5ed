// Prefixes of keys by number, in the order in which they came up: what durations are estimated by.
import { keySplit } from '../../graph/key.js';

export interface ComputationPrefixes {
  /** Local id → index into `names`. */
  readonly prefixOf: Int32Array;
  readonly names: readonly string[];
  /** Local id → number in the table. */
  readonly numbers: Int32Array;
}

export class PrefixTable {
  readonly #numbers = new Map<string, number>();

  get size(): number {
    return this.#numbers.size;
  }

  of(keys: readonly string[]): ComputationPrefixes {
    const prefixOf = new Int32Array(keys.length);
    const numbers = new Int32Array(keys.length);
    const local = new Map<string, number>();
    const names: string[] = [];
    for (let id = 0; id < keys.length; id++) {
      const name = keySplit(keys[id]!);
      let index = local.get(name);
      if (index === undefined) {
        index = names.length;
        local.set(name, index);
        names.push(name);
        if (!this.#numbers.has(name)) this.#numbers.set(name, this.#numbers.size);
      }
      prefixOf[id] = index;
      numbers[id] = this.#numbers.get(name)!;
    }
    return { prefixOf, names, numbers };
  }
}
