// Calls to a worker that wait for their answers. Each is settled once: answered, or rejected when the worker ends.
import { LongpoleError } from '../../base/errors.js';
import { type ErrorInfo, thrownOf } from '../../protocol/errorInfo.js';

interface PendingCall {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

export class PendingCalls {
  readonly #pending = new Map<number, PendingCall>();
  #next = 1;
  #ended: LongpoleError | undefined;

  get size(): number {
    return this.#pending.size;
  }

  /** A number for the message, and the promise of its answer. */
  begin(worker: string): { call: number; answer: Promise<unknown> } {
    const call = this.#next++;
    const answer = new Promise((resolve, reject) => {
      if (this.#ended === undefined) this.#pending.set(call, { resolve, reject });
      else reject(lostError(worker, this.#ended));
    });
    return { call, answer };
  }

  answer({ call, value, error }: { call: number; value: unknown; error: ErrorInfo | undefined }): void {
    const pending = this.#pending.get(call);
    this.#pending.delete(call);
    if (error === undefined) pending?.resolve(value);
    else pending?.reject(thrownOf(error));
  }

  /** The worker is gone: nobody will answer. */
  abandon(worker: string, cause: Error): void {
    this.#ended = lostError(worker, cause);
    for (const { reject } of this.#pending.values()) reject(this.#ended);
    this.#pending.clear();
  }
}

function lostError(worker: string, cause: Error): LongpoleError {
  return new LongpoleError(
    'ERR_LONGPOLE_WORKER_LOST',
    `Worker ${worker} ended before it answered: ${cause.message}`,
    { cause },
  );
}
