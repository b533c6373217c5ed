// Messages to another thread or process. Waking the receiver costs more than most messages, so messages that are not
// urgent travel with the next one.

import type { Several } from '../../protocol/isolateMessages.js';

export class Outbox<M> {
  readonly #send: (message: M | Several<M>) => void;
  readonly #later: M[] = [];
  #isScheduled = false;

  constructor(send: (message: M | Several<M>) => void) {
    this.#send = send;
  }

  /** True if messages are postponed. */
  get isHolding(): boolean {
    return this.#later.length > 0;
  }

  /** Sends the postponed messages. */
  flush(): void {
    const last = this.#later.pop();
    if (last !== undefined) this.post(last);
  }

  /** Sends a message together with the postponed ones, which stay postponed if the message cannot be copied. */
  post(message: M): void {
    if (this.#later.length === 0) {
      this.#send(message);
      return;
    }
    const messages = [...this.#later, message];
    this.#send({ type: 'several', messages });
    this.#later.length = 0;
  }

  /** Postpones a message until the next one, or until the end of this turn of the event loop. */
  postLater(message: M): void {
    this.#later.push(message);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.flush();
    });
  }
}
