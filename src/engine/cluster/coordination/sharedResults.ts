// Results of the cluster in variables and queues. A variable or queue that keeps a future holds one reference to its
// result. A future on its way to a caller holds another one, until the caller has its own reference or has stopped.
import { internalError } from '../../../base/errors.js';
import type { SharedValue } from '../../../protocol/coordination.js';
import { isPacked, type PackedResult } from '../../../protocol/packedResult.js';
import { ResultHandle } from '../computationState.js';
import type { ResultHandles } from '../resultHandles.js';
import { type Caller, perCaller } from './waitFor.js';

/** A value inside an object. */
export type KeptValue = PackedResult | ResultHandle;

export class SharedResults {
  readonly #results: ResultHandles;
  /** Results on their way. */
  readonly #given = perCaller(
    () => new Set<{ readonly handle: ResultHandle }>(),
    (given) => {
      for (const { handle } of given) this.drop(handle);
      given.clear();
    },
  );

  constructor(results: ResultHandles) {
    this.#results = results;
  }

  /** @throws LongpoleError ERR_LONGPOLE_FUTURE */
  keep(value: SharedValue): KeptValue {
    if (isPacked(value)) return value;
    const handle = this.#results.checked(this.#results.byKey.get(value.future), value.future);
    handle.references++;
    return handle;
  }

  drop(value: KeptValue): void {
    if (value instanceof ResultHandle) this.#results.release(value);
  }

  /** Gives a value to a caller. The object keeps it, too. */
  copy(value: KeptValue, caller: Caller): SharedValue {
    if (value instanceof ResultHandle) value.references++;
    return this.give(value, caller);
  }

  /** Gives a value to a caller, with the reference of the object. */
  give(value: KeptValue, caller: Caller): SharedValue {
    if (!(value instanceof ResultHandle)) return value;
    if (caller.stopped.aborted) {
      this.drop(value);
      return { future: value.key };
    }
    this.#given(caller).add({ handle: value });
    return { future: value.key };
  }

  /** Calls `receive` with a result that the caller was given. The function adds the caller's reference. */
  received<R>(key: string, caller: Caller, receive: (handle: ResultHandle) => R): R {
    const given = this.#given(caller);
    for (const one of given) {
      if (one.handle.key !== key) continue;
      const result = receive(one.handle);
      given.delete(one);
      this.drop(one.handle);
      return result;
    }
    throw internalError(`The future '${key}' was not given to this caller.`);
  }
}
