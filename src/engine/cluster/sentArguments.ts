// Reports large arguments as transfers. They travel from the client to a worker inside the message with the tasks.
// Small arguments get no row.
import { getOrMake } from '../../base/lookUps.js';
import { nbytes as bytesOf } from '../../graph/sizeOf.js';
import type { TaskRuns, Transfer } from '../../protocol/clusterObserver.js';
import type { Batch } from '../../protocol/isolateMessages.js';
import { batchConstants } from '../batchValues.js';
import { isShared } from '../copiedBytes.js';
import type { ComputationState } from './computationState.js';

/** Smallest size of a batch's arguments that are reported, in bytes. */
const LARGE = 1e6;

interface Sent {
  readonly nbytes: number;
  readonly start: number;
  /** Time at which this side had packed the message. The worker reports later times. */
  readonly packed: number;
  /** Whether the worker had ended tasks before, so that it was no longer starting. */
  readonly wasThere: boolean;
}

export class SentArguments {
  readonly #notify: (transfer: Transfer) => void;
  /** Whether a value lies in memory that the workers share. */
  readonly #isShared: (value: unknown) => boolean;
  /** Local id of one task per batch → the transfer of the batch. */
  readonly #open = new WeakMap<ComputationState, Map<number, Sent>>();
  /** Worker → time at which its last task stopped. */
  readonly #lastStops = new Map<number, number>();

  /** @param threads whether workers are threads, which share memory; processes get copies */
  constructor(threads: boolean, notify: (transfer: Transfer) => void) {
    this.#isShared = threads ? isShared : () => false;
    this.#notify = notify;
  }

  /** Sends a batch with `post` and records the time if its arguments are large. Costs a size estimate per distinct argument. */
  send(
    computation: ComputationState,
    worker: number,
    { ids, constants }: Batch,
    clock: () => number,
    post: () => void,
  ): void {
    const sizes = new Map<unknown, number>();
    const nbytes = this.#measure(constants.values, sizes);
    const start = clock();
    post();
    if (nbytes < LARGE) return;
    const sent = { nbytes, start, packed: clock(), wasThere: this.#lastStops.has(worker) };
    const open = getOrMake(this.#open, computation, () => new Map<number, Sent>());
    open.set(this.#largestOf(computation, ids, sizes), sent);
  }

  /** Returns the bytes of a message with these values, which has each object once, and notes the bytes of the objects. */
  #measure(values: readonly unknown[], sizes: Map<unknown, number>): number {
    let nbytes = 0;
    for (const value of values) {
      if (typeof value !== 'object') nbytes += bytesOf(value);
      else if (!sizes.has(value)) {
        const bytes = this.#isShared(value) ? 0 : bytesOf(value);
        sizes.set(value, bytes);
        nbytes += bytes;
      }
    }
    return nbytes;
  }

  /** Returns the task of a batch with the largest arguments. */
  #largestOf(computation: ComputationState, ids: Int32Array, sizes: ReadonlyMap<unknown, number>): number {
    let [largest, most] = [ids[0]!, -1];
    for (const id of ids) {
      const { values } = batchConstants(computation, Int32Array.of(id));
      const nbytes = values.reduce<number>((sum, value) => sum + (sizes.get(value) ?? bytesOf(value)), 0);
      if (nbytes > most) [largest, most] = [id, nbytes];
    }
    return largest;
  }

  /**
   * Completes transfers when tasks of a worker have ended. Costs nothing per task unless a batch had large arguments.
   */
  ended(
    computation: ComputationState,
    runs: Pick<TaskRuns, 'worker' | 'count' | 'ids' | 'received' | 'started' | 'stopped'>,
  ): void {
    const { worker, count, ids, received, started, stopped } = runs;
    const open = this.#open.get(computation);
    if (open !== undefined && open.size > 0) {
      for (let row = 0; row < count; row++) {
        const sent = open.get(ids[row]!);
        if (sent === undefined) continue;
        open.delete(ids[row]!);
        // A worker that starts or is busy reads messages later than they arrive.
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
          // `packed` is too late if this thread lost its core after sending. A started task has its arguments.
          stop: Math.max(sent.start, Math.min(arrived, started[row]!)),
        });
      }
    }
    this.#lastStops.set(worker, stopped[count - 1]!);
  }
}
