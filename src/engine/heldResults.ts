// Results of a local scheduler that are in the program's thread. A packed one is unpacked when the program reads it; to
// other isolates it goes as it is.
import { internalError } from '../base/errors.js';
import { type Batch, NO_VALUES, type PackedValues, type Values } from '../protocol/isolateMessages.js';
import { isPacked, type PackedResult } from '../protocol/packedResult.js';
import { unpackResult } from './worker/packResult.js';
import { weighShared } from './worker/sharedWeight.js';

export class HeldResults {
  readonly #values: unknown[];
  readonly #packed = new Map<number, PackedResult>();

  /** @param size number of tasks */
  constructor(size: number) {
    this.#values = new Array(size);
  }

  set(id: number, value: unknown): void {
    this.#values[id] = value;
  }

  /** @param result a packed result */
  setPacked(id: number, result: unknown): void {
    if (!isPacked(result)) throw internalError(`The result of task ${id} is not packed.`);
    weighShared(result);
    this.#packed.set(id, result);
  }

  /** Sets the results of a message. */
  setAll(values: Values, packed: PackedValues): void {
    for (let index = 0; index < values.ids.length; index++)
      this.set(values.ids[index]!, values.values[index]);
    for (const [index, id] of packed.ids.entries()) this.setPacked(id, packed.results[index]);
  }

  get(id: number): unknown {
    const packed = this.#packed.get(id);
    if (packed !== undefined) {
      this.#values[id] = unpackResult(packed);
      this.#packed.delete(id);
    }
    return this.#values[id];
  }

  drop(id: number): void {
    this.#values[id] = undefined;
    this.#packed.delete(id);
  }

  /** Returns the results of other workers that a batch needs. */
  inputs(ids: Int32Array): Pick<Batch, 'inputs' | 'packed'> {
    if (ids.length === 0) return { inputs: NO_VALUES };
    const plain = this.#packed.size === 0 ? ids : ids.filter((id) => !this.#packed.has(id));
    const inputs = { ids: plain, values: Array.from(plain, (id) => this.#values[id]) };
    if (plain.length === ids.length) return { inputs };
    const packed = ids.filter((id) => this.#packed.has(id));
    return { inputs, packed: { ids: packed, results: Array.from(packed, (id) => this.#packed.get(id)!) } };
  }

  /** Returns all results by task id. Those that the program did not request may be undefined. */
  all(requested: Uint8Array): readonly unknown[] {
    for (const id of this.#packed.keys()) if (requested[id] === 1) this.get(id);
    return this.#values;
  }
}
