// The handles that clients hold of results: one per result, whoever asks. When the last reference goes, nobody wants the
// result any more, and the scheduler is told.
import { LongpoleError } from '../../base/errors.js';
import type { SchedulerEvent } from '../scheduler/events.js';
import type { ComputationState, ResultHandle } from './computationState.js';

export interface HandleOwner {
  computation(number: number): ComputationState | undefined;
  handleEvent(event: SchedulerEvent): void;
}

export class ResultHandles {
  /** By key. */
  readonly byKey = new Map<string, ResultHandle>();
  readonly #owner: HandleOwner;
  /** Results that were let go of in this turn. */
  readonly #released = new Map<ComputationState, number[]>();

  constructor(owner: HandleOwner) {
    this.#owner = owner;
  }

  /** A handle for a requested result, the same for everybody who asks. */
  of(computation: ComputationState, local: number): ResultHandle {
    const known = computation.imports.get(local) ?? computation.handles.get(local);
    if (known !== undefined) return known;
    const handle = computation.addHandle(local);
    this.byKey.set(handle.key, handle);
    return handle;
  }

  /** The handle of a key whose result is there or coming; undefined: it has to be computed. */
  known(key: string): ResultHandle | undefined {
    if (this.byKey.size === 0) return undefined;
    const handle = this.byKey.get(key);
    return handle === undefined || handle.status === 'error' || handle.status === 'cancelled'
      ? undefined
      : handle;
  }

  /**
   * The handle, if its result can be an input.
   *
   * @throws LongpoleError ERR_LONGPOLE_FUTURE
   */
  checked(handle: ResultHandle | undefined, key: string): ResultHandle {
    if (
      handle === undefined ||
      this.#owner.computation(handle.computation.info.number) !== handle.computation
    )
      throw new LongpoleError(
        'ERR_LONGPOLE_FUTURE',
        `The future '${key}' is of another cluster, or was released or cancelled. Use futures of the client that computes, and keep them until then.`,
      );
    if (handle.status === 'cancelled')
      throw new LongpoleError('ERR_LONGPOLE_FUTURE', `The future '${key}' was cancelled.`, {
        cause: handle.error,
      });
    return handle;
  }

  /**
   * Handles of another cluster have ids that mean something else here.
   *
   * @throws LongpoleError ERR_LONGPOLE_FUTURE
   */
  checkOwner(handle: ResultHandle): void {
    const { computation, key, status } = handle;
    if (status === 'cancelled' || status === 'error') return;
    if (this.#owner.computation(computation.info.number) !== computation)
      throw new LongpoleError(
        'ERR_LONGPOLE_FUTURE',
        `The future '${key}' is of another cluster. Use futures with the cluster that made them.`,
      );
  }

  /**
   * One reference less; at 0 the result is not wanted any more.
   *
   * @param reason what calls that wait for the result reject with. Default: that it was released
   */
  release(handle: ResultHandle, reason?: LongpoleError): void {
    if (--handle.references > 0) return;
    const { isSettled } = handle;
    handle.set('cancelled', reason);
    this.#forget(handle);
    // Before it begins: a moment later it might have.
    if (!isSettled) {
      this.unwant(handle.computation, [handle.local]);
      return;
    }
    // Many are let go of in one turn: one event for all of them.
    if (this.#released.size === 0) queueMicrotask(() => this.flush());
    const locals = this.#released.get(handle.computation);
    if (locals === undefined) this.#released.set(handle.computation, [handle.local]);
    else locals.push(handle.local);
  }

  /** Tells the scheduler of all that was let go of. */
  flush(): void {
    const released = [...this.#released];
    this.#released.clear();
    for (const [computation, locals] of released) this.unwant(computation, locals);
  }

  /**
   * Nobody gets the result, whoever holds a future of it, nor what needs it and has no result yet. With an `error`, which
   * they get instead of being told that it was cancelled, tasks of others that need the result go on.
   */
  cancel(handles: readonly ResultHandle[], error?: LongpoleError): void {
    const byComputation = new Map<ComputationState, number[]>();
    for (const handle of handles) {
      if (handle.status === 'cancelled') continue;
      const why =
        error ?? new LongpoleError('ERR_LONGPOLE_FUTURE', `The future '${handle.key}' was cancelled.`);
      if (handle.status !== 'error') handle.set('cancelled', why);
      const locals = byComputation.get(handle.computation);
      if (locals === undefined) byComputation.set(handle.computation, [handle.local]);
      else locals.push(handle.local);
    }
    if (error === undefined)
      for (const [of, locals] of byComputation) this.#send('tasks-cancelled', of, locals);
    for (const [of, locals] of byComputation) this.unwant(of, locals);
  }

  /** Nobody asks for these results of a computation any more. */
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
