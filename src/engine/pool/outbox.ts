// Messages to another thread or process. Each wakes it, which costs more than what most of them say: those that nobody
// waits for go along with the next.

import type { Several } from '../../protocol/several.js';

export class Outbox<M> {
  readonly #send: (message: M | Several<M>) => void;
  readonly #later: M[] = [];

  constructor(send: (message: M | Several<M>) => void) {
    this.#send = send;
  }

  /** Sends it now, and before it what was to go along, which stays if the message cannot be copied. */
  post(message: M): void {
    if (this.#later.length === 0) {
      this.#send(message);
      return;
    }
    const messages = [...this.#later, message];
    this.#send({ type: 'several', messages });
    this.#later.length = 0;
  }

  /** Goes with the next message, which usually comes in the same turn of the event loop; else alone, at its end. */
  postLater(message: M): void {
    this.#later.push(message);
    if (this.#later.length > 1) return;
    setImmediate(() => {
      const last = this.#later.pop();
      if (last !== undefined) this.post(last);
    });
  }
}
