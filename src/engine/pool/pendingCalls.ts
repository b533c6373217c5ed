// Calls to a worker that wait for their answers. Each is settled once: answered, or rejected when the worker ends.
import { LongpoleError } from '../../base/errors.js';
import { type ErrorInfo, thrownOf } from '../../protocol/errorInfo.js';

interface PendingCall {
  /** What was asked, for the dump of a cluster. */
  readonly what: string;
  readonly since: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** A call without an answer. */
export interface CallDump {
  readonly what: string;
  /** Seconds since it was sent. */
  readonly age: number;
}

export class PendingCalls {
  readonly #pending = new Map<number, PendingCall>();
  #next = 1;
  #ended: LongpoleError | undefined;

  get size(): number {
    return this.#pending.size;
  }

  /**
   * Sends a call under a number of its own.
   *
   * @param what names the call in dumps, e.g. `run f`
   * @returns (resolves) the answer
   * @throws (rejects) what the call throws, ERR_LONGPOLE_NOT_CLONEABLE if `send` throws, ERR_LONGPOLE_WORKER_LOST
   */
  ask(worker: string, what: string, send: (call: number) => void): Promise<unknown> {
    const call = this.#next++;
    return new Promise((resolve, reject) => {
      if (this.#ended !== undefined) {
        reject(lostError(worker, this.#ended));
        return;
      }
      this.#pending.set(call, { what, since: performance.now(), resolve, reject });
      try {
        send(call);
      } catch (error) {
        this.#pending.delete(call);
        reject(notSentError(worker, error));
      }
    });
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

  /** The oldest call first. */
  dump(): CallDump[] {
    const now = performance.now();
    return Array.from(this.#pending.values(), ({ what, since }) => ({
      what,
      age: Math.round(now - since) / 1000,
    }));
  }
}

function notSentError(worker: string, reason: unknown): LongpoleError {
  const why = reason instanceof Error ? reason.message : String(reason);
  return new LongpoleError(
    'ERR_LONGPOLE_NOT_CLONEABLE',
    `What worker ${worker} is called with cannot be copied to it: ${why} Pass plain data.`,
    { cause: reason },
  );
}

function lostError(worker: string, cause: Error): LongpoleError {
  return new LongpoleError(
    'ERR_LONGPOLE_WORKER_LOST',
    `Worker ${worker} ended before it answered: ${cause.message}`,
    { cause },
  );
}
