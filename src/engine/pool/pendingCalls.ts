// Calls to a worker that wait for their answers. Each call is settled once: with its answer, or with an error if the
// worker ends or does not take the call. A taken call has no time limit, because it may run a function of the user.
import { inspect } from 'node:util';
import { LongpoleError, notCopyable, sentenceOf } from '../../base/errors.js';
import { type ErrorInfo, thrownOf } from '../../protocol/errorInfo.js';

interface PendingCall {
  /** Name of the call in dumps. */
  readonly what: string;
  readonly since: number;
  /** Number of opportunities at which the worker did not take the call. Undefined once the call was taken. */
  missed: number | undefined;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** A call without an answer. */
export interface CallDump {
  readonly what: string;
  /** Seconds since the call was sent. */
  readonly age: number;
  readonly state: 'sent' | 'taken';
}

/** The cause of the error if a worker ended before it took a call, so that the call had no effect. */
export class UntakenError extends Error {}

export class PendingCalls {
  readonly #pending = new Map<number, PendingCall>();
  #next = 1;
  readonly #maxOccasions: number;
  #ended: LongpoleError | undefined;

  /** @param maxOccasions number of calls of `occasion` after which a call that the worker has not taken is rejected */
  constructor(maxOccasions: number) {
    this.#maxOccasions = maxOccasions;
  }

  get size(): number {
    return this.#pending.size;
  }

  /**
   * Sends a call under a new number.
   *
   * @param what names the call in dumps, e.g. `call f`
   * @param limitMs time limit for the answer in milliseconds. Default: none
   * @returns (resolves) the answer
   * @throws (rejects) what the call throws, ERR_LONGPOLE_NOT_CLONEABLE if `send` throws, ERR_LONGPOLE_WORKER_LOST,
   *   ERR_LONGPOLE_STALLED
   */
  ask(worker: string, what: string, send: (call: number) => void, limitMs?: number): Promise<unknown> {
    const call = this.#next++;
    const answer = this.#asked(call, worker, what, send);
    if (limitMs === undefined) return answer;
    const timer = setTimeout(() => {
      this.#pending.get(call)?.reject(noAnswerError(worker, what, limitMs));
      this.#pending.delete(call);
    }, limitMs);
    return answer.finally(() => clearTimeout(timer));
  }

  #asked(call: number, worker: string, what: string, send: (call: number) => void): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#ended !== undefined) {
        reject(lostError(worker, this.#ended));
        return;
      }
      this.#pending.set(call, { what, since: performance.now(), missed: 0, resolve, reject });
      try {
        send(call);
      } catch (error) {
        this.#pending.delete(call);
        reject(
          notCopyable(
            `The argument of a call cannot be copied to worker ${worker}`,
            error,
            'Pass plain data.',
          ),
        );
      }
    });
  }

  /** Number of calls that the worker has not taken. */
  get untaken(): number {
    let count = 0;
    for (const { missed } of this.#pending.values()) if (missed !== undefined) count++;
    return count;
  }

  /** Marks a call as taken. From then on its answer has no time limit. */
  taken(call: number): void {
    const pending = this.#pending.get(call);
    if (pending !== undefined) pending.missed = undefined;
  }

  /**
   * Records that the worker had the opportunity to take its calls. A call that the worker has missed too often is
   * rejected with ERR_LONGPOLE_STALLED, with the dump of the worker as the cause.
   */
  occasion(worker: string, dump: () => Promise<unknown>): void {
    for (const [call, pending] of this.#pending) {
      if (pending.missed === undefined || ++pending.missed < this.#maxOccasions) continue;
      this.#pending.delete(call);
      void dump().then((standing) => pending.reject(notTakenError(worker, pending, standing)));
    }
  }

  answer({ call, value, error }: { call: number; value: unknown; error: ErrorInfo | undefined }): void {
    const pending = this.#pending.get(call);
    this.#pending.delete(call);
    if (error === undefined) pending?.resolve(value);
    else pending?.reject(thrownOf(error));
  }

  /** Rejects all calls, because the worker has ended. The cause is an UntakenError for calls that were not taken. */
  abandon(worker: string, cause: Error): void {
    const ended = lostError(worker, cause);
    this.#ended = ended;
    const untaken = new UntakenError(cause.message, { cause });
    for (const { missed, reject } of this.#pending.values())
      reject(missed === undefined ? ended : lostError(worker, untaken));
    this.#pending.clear();
  }

  /** Returns the pending calls, the oldest first. */
  dump(): CallDump[] {
    const now = performance.now();
    return Array.from(this.#pending.values(), ({ what, since, missed }) => ({
      what,
      state: missed === undefined ? 'taken' : 'sent',
      age: Math.round(now - since) / 1000,
    }));
  }
}

function notTakenError(worker: string, { what, since }: PendingCall, standing: unknown): LongpoleError {
  const seconds = Math.round((performance.now() - since) / 1000);
  return new LongpoleError(
    'ERR_LONGPOLE_STALLED',
    `Worker ${worker} did not take '${what}' within ${seconds} s, although its event loop was running. ` +
      'Search the modules of your tasks for uses of parentPort. If there are none, please report this error with its cause, a dump of the worker.',
    { cause: new Error(inspect(standing, { depth: 8 })) },
  );
}

function noAnswerError(worker: string, what: string, limitMs: number): LongpoleError {
  return new LongpoleError(
    'ERR_LONGPOLE_STALLED',
    `Worker ${worker} did not answer '${what}' within ${limitMs / 1000} s. It may be busy or stopped; try again later.`,
  );
}

function lostError(worker: string, cause: Error): LongpoleError {
  return new LongpoleError(
    'ERR_LONGPOLE_WORKER_LOST',
    `Worker ${worker} ended before it answered: ${sentenceOf(cause)} Repeat the call; a new worker replaces the old one.`,
    { cause },
  );
}
