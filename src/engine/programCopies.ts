// Reports the large arguments and results of a local run that the program's thread copies, also results of one worker that
// tasks of another use: while it does, it sends no tasks. Node copies a message before it delivers it, so the copy of a result begins when its task has ended and this
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

/** Arguments on their way to a worker. */
interface Sent {
  readonly worker: number;
  /** The first task of the batch. */
  readonly id: number;
  /** The tasks whose results are sent, or the first task of the batch if most bytes are arguments of the program. */
  readonly keys: readonly number[];
  readonly nbytes: number;
  readonly start: number;
  /** Time at which this thread had packed them. */
  readonly packed: number;
}

/** Time at which a run last used this thread. */
let lastUse = 0;

export class ProgramCopies {
  readonly #keys: readonly string[];
  readonly #notify: (transfer: Transfer) => void;
  /** First task of a batch → its large arguments. */
  readonly #sent = new Map<number, Sent>();
  /** Worker → time at which its last task stopped. */
  readonly #lastStops = new Map<number, number>();

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
  send(worker: number, { ids, inputs, packed: results, constants }: Batch, post: () => void): void {
    const start = epochSeconds();
    post();
    const packed = epochSeconds();
    if (packed - start < SLOW) return;
    const passed = copiedBytes([...inputs.values, ...(results?.results ?? [])]);
    const own = copiedBytes(constants.values);
    const id = ids[0]!;
    const keys = passed > own ? [...inputs.ids, ...(results?.ids ?? [])] : [id];
    const sent = { worker, id, keys, nbytes: passed + own, start, packed };
    // A stolen task was sent before.
    const earlier = this.#sent.get(sent.id);
    if (earlier !== undefined) this.#arrived(earlier, earlier.packed);
    this.#sent.set(sent.id, sent);
  }

  /** A report of a worker has arrived, which receives messages since `ready`. */
  received(
    worker: number,
    ready: number,
    columns: CompletionColumns,
    values: ReadonlyMap<number, unknown>,
  ): void {
    if (values.size > 0) this.#returned(worker, columns, values);
    this.#ended(worker, ready, columns);
  }

  /**
   * An idle worker received a task when it had unpacked the arguments. A worker that was starting then loaded modules as well,
   * so the time to unpack is unknown.
   */
  #ended(worker: number, ready: number, { ids, received, starts, stops, count }: CompletionColumns): void {
    for (let index = 0; index < count && this.#sent.size > 0; index++) {
      const sent = this.#sent.get(ids[index]!);
      if (sent?.worker !== worker) continue;
      this.#sent.delete(sent.id);
      const before = index > 0 ? stops[index - 1]! : (this.#lastStops.get(worker) ?? ready);
      const there = before <= sent.packed ? Math.min(received[index]!, starts[index]!) : sent.packed;
      this.#arrived(sent, Math.max(sent.packed, there));
    }
    if (count > 0) this.#lastStops.set(worker, stops[count - 1]!);
  }

  #arrived({ worker, keys, nbytes, start }: Sent, stop: number): void {
    this.#report(worker, 'scatter', keys, nbytes, start, stop);
  }

  #returned(
    worker: number,
    { ids, stops, count }: CompletionColumns,
    values: ReadonlyMap<number, unknown>,
  ): void {
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
