// Large arguments travel from the client to a worker inside the message that names the tasks. Here that becomes a transfer
// which observers hear of; small arguments are not worth a row.
import { sizeOf } from '../../graph/sizeOf.js';
import type { TaskRuns, Transfer } from '../../protocol/clusterObserver.js';
import { batchConstants } from '../batchValues.js';
import type { ComputationState } from './computationState.js';

/** Bytes of all arguments of a batch, from where they count. */
const LARGE = 1e6;

interface Sent {
  readonly nbytes: number;
  readonly start: number;
  /** When this side had packed it: what followed, the worker tells. */
  readonly packed: number;
  /** The worker had ended tasks before: it was no longer starting. */
  readonly wasThere: boolean;
}

export class SentArguments {
  readonly #notify: (transfer: Transfer) => void;
  /** Whether a value lies in memory that workers have, too. */
  readonly #isShared: (value: unknown) => boolean;
  /** By task, one of each batch. */
  readonly #open = new WeakMap<ComputationState, Map<number, Sent>>();
  /** By worker: when its last task stopped. */
  readonly #lastStops = new Map<number, number>();

  /** Processes have no memory in common: what threads would share is copied to them. */
  constructor(threads: boolean, notify: (transfer: Transfer) => void) {
    this.#isShared = threads ? isShared : () => false;
    this.#notify = notify;
  }

  /** Sends a batch, with how long that took if its arguments are large. Cost: a look at each argument that is no number. */
  send(
    computation: ComputationState,
    worker: number,
    {
      ids,
      constants,
    }: { readonly ids: Int32Array; readonly constants: { readonly values: readonly unknown[] } },
    clock: () => number,
    post: () => void,
  ): void {
    const nbytes = this.#bytesOf(constants.values);
    const start = clock();
    post();
    if (nbytes < LARGE) return;
    const sent = { nbytes, start, packed: clock(), wasThere: this.#lastStops.has(worker) };
    const open = this.#open.get(computation) ?? new Map<number, Sent>();
    this.#open.set(computation, open);
    open.set(this.#largestOf(computation, ids), sent);
  }

  #bytesOf(values: readonly unknown[]): number {
    let nbytes = 0;
    for (const value of values) if (!this.#isShared(value)) nbytes += bytesOfOne(value);
    return nbytes;
  }

  /** The task of a batch that has the largest arguments. */
  #largestOf(computation: ComputationState, ids: Int32Array): number {
    let [largest, most] = [ids[0]!, -1];
    for (const id of ids) {
      const nbytes = this.#bytesOf(batchConstants(computation, Int32Array.of(id)).values);
      if (nbytes > most) [largest, most] = [id, nbytes];
    }
    return largest;
  }

  /**
   * Tasks of a worker have ended. Cost: none per task, unless one of the computation has large arguments.
   */
  ended(
    computation: ComputationState,
    {
      worker,
      count,
      ids,
      received,
      started,
      stopped,
    }: Pick<TaskRuns, 'worker' | 'count' | 'ids' | 'received' | 'started' | 'stopped'>,
  ): void {
    const open = this.#open.get(computation);
    if (open !== undefined && open.size > 0) {
      for (let row = 0; row < count; row++) {
        const sent = open.get(ids[row]!);
        if (sent === undefined) continue;
        open.delete(ids[row]!);
        // A worker that starts, or runs something, takes messages later than they come.
        const before = row > 0 ? stopped[row - 1]! : (this.#lastStops.get(worker) ?? 0);
        const wasIdle = sent.wasThere && before <= sent.packed;
        const arrived = wasIdle ? Math.max(sent.packed, received[row]!) : sent.packed;
        this.#notify({
          worker,
          peer: -1,
          direction: 'incoming',
          what: 'scatter',
          keys: [computation.info.keys[ids[row]!]!],
          nbytes: sent.nbytes,
          compressed: sent.nbytes,
          start: sent.start,
          // This side may have lost its core after it had sent them: what a task has begun with is there.
          stop: Math.max(sent.start, Math.min(arrived, started[row]!)),
        });
      }
    }
    this.#lastStops.set(worker, stopped[count - 1]!);
  }
}

/** Exact only for what is large. */
function bytesOfOne(value: unknown): number {
  const nbytes = sizeOf(value, LARGE);
  return nbytes > LARGE ? sizeOf(value, Number.POSITIVE_INFINITY) : nbytes;
}

/** Between threads it is not copied. */
function isShared(value: unknown): boolean {
  if (value instanceof SharedArrayBuffer) return true;
  return ArrayBuffer.isView(value) && value.buffer instanceof SharedArrayBuffer;
}
