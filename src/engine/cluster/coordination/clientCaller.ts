// A client as a caller of shared objects, from its first call to its end.
import { setMaxListeners } from 'node:events';
import type { LongpoleError } from '../../../base/errors.js';
import type { AskerEnd } from '../taskQuestions.js';
import type { Caller } from './waitFor.js';

export class ClientCaller implements Caller {
  readonly key: string;
  readonly #ended = new AbortController();
  readonly #stopped = new AbortController();
  readonly ended: AbortSignal = this.#ended.signal;
  readonly stopped: AbortSignal = this.#stopped.signal;

  /** @param name name of the client */
  constructor(name: string) {
    this.key = name;
    // A program may wait for many objects at the same time.
    setMaxListeners(0, this.ended, this.stopped);
  }

  /** Ends the waits of the client with this error. */
  end(error: LongpoleError): void {
    const reason: AskerEnd = { how: 'closed', error };
    this.#ended.abort(reason);
  }

  /** Releases the leases of the client. */
  stop(): void {
    this.#stopped.abort();
  }
}
