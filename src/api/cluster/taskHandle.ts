// A result on the cluster, as a client inside a task knows it. The process of the scheduler holds the result under the
// same number; see servedTasks.ts.
import { LongpoleError } from '../../base/errors.js';
import type { ResultStatus } from '../../engine/cluster/computationState.js';
import type { TaskConnection } from '../../engine/worker/askScheduler.js';
import { External } from '../../graph/external.js';
import { fromErrorInfo } from '../../protocol/errorInfo.js';
import type { FutureHandle } from './future.js';

export class TaskHandle extends External implements FutureHandle {
  readonly number: number;
  /** Number of futures of this result. */
  references = 0;
  readonly #connection: TaskConnection;
  #status: ResultStatus = 'pending';
  #error: unknown;
  #settled: Promise<void> | undefined;

  constructor(key: string, number: number, connection: TaskConnection) {
    super(key);
    this.number = number;
    this.#connection = connection;
  }

  /** The last known status. The first query of a pending result starts to watch it. */
  get status(): ResultStatus {
    if (!this.isSettled) void this.settled();
    return this.#status;
  }

  get isSettled(): boolean {
    return this.#status !== 'pending' && this.#status !== 'lost';
  }

  /** Whether the result is known to have failed or to be cancelled. */
  get isFailed(): boolean {
    return this.#status === 'error' || this.#status === 'cancelled';
  }

  get error(): unknown {
    return this.#error;
  }

  /** Resolves when the result is available, has failed or was cancelled. Never rejects. */
  settled(): Promise<void> {
    this.#settled ??= this.#settle();
    return this.#settled;
  }

  finished(): void {
    this.#set('finished');
  }

  cancelled(): void {
    this.#set('cancelled', releasedError(this.key));
  }

  async #settle(): Promise<void> {
    try {
      const { ends } = await this.#connection.ask('settle', { futures: [this.number] });
      const [end] = ends;
      if (end !== undefined) this.#set(end.status, end.error && fromErrorInfo(end.error));
    } catch (error) {
      // The task has ended or was cancelled, and so its results are released.
      this.#set('cancelled', error);
    }
  }

  #set(status: ResultStatus, error?: unknown): void {
    if (this.isSettled) return;
    this.#status = status;
    this.#error = error;
  }
}

function releasedError(key: string): LongpoleError {
  return new LongpoleError(
    'ERR_LONGPOLE_FUTURE',
    `The future '${key}' was released or cancelled. Keep a future until its last use, or submit its task again.`,
  );
}
