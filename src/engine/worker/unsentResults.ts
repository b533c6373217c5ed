// Results and errors of a run that wait for the next report to the host.
import type { ErrorInfo } from '../../protocol/errorInfo.js';
import { type Fetched, NO_PACKED, NO_VALUES } from '../../protocol/isolateMessages.js';
import type { PackedResult } from '../../protocol/packedResult.js';
import { packNumbers } from '../../protocol/shortMessages.js';

export type Unsent = Pick<Fetched, 'values' | 'packed' | 'errors'>;

export class UnsentResults {
  #ids: number[] = [];
  #values: unknown[] = [];
  #packedIds: number[] = [];
  #packed: PackedResult[] = [];
  #errors: { id: number; error: ErrorInfo }[] = [];

  get isEmpty(): boolean {
    return this.#ids.length === 0 && this.#packedIds.length === 0 && this.#errors.length === 0;
  }

  addValue(id: number, value: unknown): void {
    this.#ids.push(id);
    this.#values.push(value);
  }

  addPacked(id: number, result: PackedResult): void {
    this.#packedIds.push(id);
    this.#packed.push(result);
  }

  addError(id: number, error: ErrorInfo): void {
    this.#errors.push({ id, error });
  }

  /** Returns the results and errors, and clears them. */
  take(): Unsent {
    const ids = this.#ids;
    const unsent = {
      values: ids.length === 0 ? NO_VALUES : { ids: packNumbers(ids), values: this.#values },
      packed:
        this.#packed.length === 0
          ? NO_PACKED
          : { ids: Int32Array.from(this.#packedIds), results: this.#packed },
      errors: this.#errors,
    };
    this.#ids = [];
    this.#values = [];
    this.#packedIds = [];
    this.#packed = [];
    this.#errors = [];
    return unsent;
  }
}
