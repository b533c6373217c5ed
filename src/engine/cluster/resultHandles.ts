// The clients' handles of results, one per result. When the last reference is released, the scheduler is notified that
// the result is not wanted any more.

import { type LongpoleError, unusableFuture } from '../../base/errors.js';
import { pushTo } from '../../base/lookUps.js';
import type { ComputationState, ResultHandle } from './computationState.js';
import type { EngineParts } from './engineParts.js';

export class ResultHandles {
  readonly byKey = new Map<string, ResultHandle>();
  readonly #owner: Pick<EngineParts, 'computation' | 'handleEvent'>;
  /** Results whose last reference was released in this turn of the event loop. */
  #released = new Map<ComputationState, number[]>();

  constructor(owner: Pick<EngineParts, 'computation' | 'handleEvent'>) {
    this.#owner = owner;
  }

  /** Returns the one handle of a requested result. */
  of(computation: ComputationState, local: number): ResultHandle {
    const known = computation.imports.get(local) ?? computation.handles.get(local);
    if (known !== undefined) return known;
    const handle = computation.addHandle(local);
    this.byKey.set(handle.key, handle);
    return handle;
  }

  /** Returns the handle of a key with an available or expected result; undefined: the key has to be computed. */
  known(key: string): ResultHandle | undefined {
    if (this.byKey.size === 0) return undefined;
    const handle = this.byKey.get(key);
    return handle === undefined || handle.status === 'error' || handle.status === 'cancelled'
      ? undefined
      : handle;
  }

  /**
   * Returns the handle if its result can be an input.
   *
   * @throws LongpoleError ERR_LONGPOLE_FUTURE
   */
  checked(handle: ResultHandle | undefined, key: string): ResultHandle {
    if (
      handle === undefined ||
      this.#owner.computation(handle.computation.info.number) !== handle.computation
    )
      throw unusableFuture(
        `The future '${key}' belongs to another cluster, or was released or cancelled. Use futures of the same client, and keep them until the call has returned.`,
      );
    if (handle.status === 'cancelled') throw cancelledError(key, handle.error);
    return handle;
  }

  /**
   * Checks that the handle belongs to this cluster. The ids of another cluster have a different meaning here.
   *
   * @throws LongpoleError ERR_LONGPOLE_FUTURE
   */
  checkOwner(handle: ResultHandle): void {
    const { computation, key, status } = handle;
    if (status === 'cancelled' || status === 'error') return;
    if (this.#owner.computation(computation.info.number) !== computation)
      throw unusableFuture(
        `The future '${key}' belongs to another cluster. Use futures only with the cluster that created them.`,
      );
  }

  /**
   * Releases one reference. Without references the result is not wanted any more.
   *
   * @param reason error with which waiting calls reject. Default: an error that says that the future was released
   */
  release(handle: ResultHandle, reason?: LongpoleError): void {
    if (--handle.references > 0) return;
    const { isSettled } = handle;
    handle.set('cancelled', reason);
    // After a cancellation, another handle may stand for the result, which is computed again.
    if (handle.computation.handles.get(handle.local) !== handle) return;
    this.#forget(handle);
    // An unfinished task is reported at once, because it might begin a moment later.
    if (!isSettled) {
      this.unwant(handle.computation, [handle.local]);
      return;
    }
    // Many results are released in one turn. One event covers all of them.
    if (this.#released.size === 0) queueMicrotask(() => this.flush());
    pushTo(this.#released, handle.computation, handle.local);
  }

  /** Notifies the scheduler of all released results. */
  flush(): void {
    const released = this.#released;
    // Not cleared: V8 keeps the keys of a cleared map, and with them their computations, until the next full collection.
    this.#released = new Map();
    for (const [computation, locals] of released) this.unwant(computation, locals);
  }

  /**
   * Cancels results for all holders of their futures, and the unfinished tasks that depend on them. With `error`, the
   * holders get that error and dependent tasks of others continue.
   */
  cancel(handles: readonly ResultHandle[], error?: LongpoleError): void {
    const byComputation = new Map<ComputationState, number[]>();
    for (const handle of handles) {
      if (handle.status === 'cancelled') continue;
      const why = error ?? cancelledError(handle.key);
      if (handle.status !== 'error') handle.set('cancelled', why);
      pushTo(byComputation, handle.computation, handle.local);
    }
    if (error === undefined)
      for (const [of, locals] of byComputation) this.#send('tasks-cancelled', of, locals);
    for (const [of, locals] of byComputation) this.unwant(of, locals);
  }

  /** Removes the handles of results and notifies the scheduler that the results are not wanted any more. */
  unwant(computation: ComputationState, locals: readonly number[]): void {
    for (const local of locals) {
      const handle = computation.handles.get(local);
      if (handle !== undefined) this.#forget(handle);
    }
    this.#send('results-unwanted', computation, locals);
  }

  #send(
    type: 'tasks-cancelled' | 'results-unwanted',
    computation: ComputationState,
    locals: readonly number[],
  ): void {
    if (this.#owner.computation(computation.info.number) !== computation) return;
    const { base } = computation.segment;
    this.#owner.handleEvent({ type, ids: locals.map((local) => base + local) });
  }

  #forget(handle: ResultHandle): void {
    handle.computation.handles.delete(handle.local);
    if (this.byKey.get(handle.key) === handle) this.byKey.delete(handle.key);
  }
}

function cancelledError(key: string, cause?: unknown): LongpoleError {
  const message = `The future '${key}' was cancelled. Submit its task again if you need the result.`;
  return unusableFuture(message, { cause });
}
