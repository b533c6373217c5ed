// Reports the large arguments and results of a local run that the program's thread copies: while it does, it sends no
// tasks. Node copies a message before it delivers it, so the copy of a result begins when its task has ended and this
// thread is free.
import type { Transfer } from '../protocol/clusterObserver.js';
import type { CompletionColumns } from '../protocol/completionLog.js';
import type { Batch } from '../protocol/isolateMessages.js';
import { epochSeconds } from '../resources/clock.js';
import { copiedBytes } from './copiedBytes.js';

/** Seconds from which a copy is reported. */
const SLOW = 5e-3;
/** Bytes per second of a copy at least. Objects take 10 to 60 MB/s. A longer time has another cause, too. */
const SLOWEST = 5e6;

/** Time at which a run last used this thread. */
let lastUse = 0;

export class ProgramCopies {
  readonly #keys: readonly string[];
  readonly #notify: (transfer: Transfer) => void;

  /** @param keys keys of the tasks by id */
  constructor(keys: readonly string[], notify: (transfer: Transfer) => void) {
    this.#keys = keys;
    this.#notify = notify;
  }

  /** The run has used this thread, and waits for the next message or timer. */
  used(): void {
    lastUse = epochSeconds();
  }

  /** Sends a batch with `post`. */
  send(worker: number, { ids, inputs, packed, constants }: Batch, post: () => void): void {
    const start = epochSeconds();
    post();
    const stop = epochSeconds();
    if (stop - start < SLOW) return;
    const nbytes = copiedBytes([...inputs.values, ...(packed?.results ?? []), ...constants.values]);
    this.#report(worker, 'scatter', [ids[0]!], nbytes, start, stop);
  }

  /** Results have arrived. */
  received(
    worker: number,
    { ids, stops, count }: CompletionColumns,
    values: ReadonlyMap<number, unknown>,
  ): void {
    if (values.size === 0) return;
    const now = epochSeconds();
    let start = lastUse;
    for (let index = 0; index < count; index++)
      if (values.has(ids[index]!)) start = Math.max(start, stops[index]!);
    if (now - start < SLOW) return;
    const arrived = ids.subarray(0, count).filter((id) => values.has(id));
    const nbytes = copiedBytes(Array.from(arrived, (id) => values.get(id)));
    this.#report(worker, 'gather', arrived, nbytes, start, now);
  }

  #report(
    worker: number,
    what: 'scatter' | 'gather',
    ids: ArrayLike<number>,
    nbytes: number,
    since: number,
    stop: number,
  ): void {
    const start = Math.max(since, stop - nbytes / SLOWEST);
    if (stop - start < SLOW) return;
    this.#notify({
      worker,
      peer: -1,
      direction: what === 'scatter' ? 'incoming' : 'outgoing',
      what,
      keys: Array.from(ids, (id) => this.#keys[id]!),
      nbytes,
      // No connection is used.
      compressed: 0,
      start,
      stop,
    });
  }
}
