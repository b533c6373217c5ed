// The shared objects of one class, by name. An object exists from its first use until it has no state.
import { getOrMake } from '../../../base/lookUps.js';
import type { Leave } from './waitFor.js';

export class NamedObjects<O extends { readonly isUnused: boolean }> {
  readonly #byName = new Map<string, O>();

  get size(): number {
    return this.#byName.size;
  }

  get names(): Iterable<string> {
    return this.#byName.keys();
  }

  get(name: string): O | undefined {
    return this.#byName.get(name);
  }

  /** Calls `use` with the object of this name, or with a new one. Afterwards removes an object without state. */
  use<R>(name: string, make: () => O, use: (object: O) => R): R {
    const object = getOrMake(this.#byName, name, make);
    try {
      return use(object);
    } finally {
      this.removeUnused(name);
    }
  }

  /** Begins a wait for the object, like `use`. Also removes an object without state when the wait is left. */
  begin(name: string, make: () => O, begin: (object: O) => Leave | undefined): Leave | undefined {
    const leave = this.use(name, make, begin);
    if (leave === undefined) return undefined;
    return () => {
      leave();
      this.removeUnused(name);
    };
  }

  removeUnused(name: string): void {
    if (this.#byName.get(name)?.isUnused) this.#byName.delete(name);
  }
}
