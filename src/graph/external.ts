// A result that exists or is being computed outside the graph under construction, e.g. a Future of a cluster. A graph may
// contain an External wherever it may contain a Delayed or a key.

import { invalidArgument } from '../base/errors.js';

/** Marks externals of every copy of the package, because a bundle for a remote worker contains another copy. */
const BRAND: unique symbol = Symbol.for('longpole.external');

export class External {
  readonly key: string;

  constructor(key: string) {
    this.key = key;
  }

  get [BRAND](): true {
    return true;
  }

  /** @internal A calculation with the object itself would give NaN. */
  [Symbol.toPrimitive](hint: string): string {
    if (hint !== 'number') return this.toString();
    throw invalidArgument(`${this} is not a number. Use its result, e.g. await future.result().`);
  }
}

/** Whether the value is an external of this or another copy of the package. */
export function isExternal(value: object): boolean {
  return BRAND in value;
}
