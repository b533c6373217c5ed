// A page's WebSocket together with the connection below it: messages that go out together leave in one system call. Each
// call costs some 20 µs, most of what sending costs, and is paid for every page.
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { OutletSocket } from './outlet.js';

export class PageSocket implements OutletSocket {
  readonly #socket: WebSocket;
  readonly #connection: Duplex;

  constructor(socket: WebSocket, connection: Duplex) {
    this.#socket = socket;
    this.#connection = connection;
  }

  get bufferedAmount(): number {
    return this.#socket.bufferedAmount;
  }

  get readyState(): number {
    return this.#socket.readyState;
  }

  send(...messages: readonly (string | Uint8Array)[]): void {
    this.#connection.cork();
    for (const message of messages) this.#socket.send(message);
    this.#connection.uncork();
  }

  close(code: number, reason: string): void {
    this.#socket.close(code, reason);
  }

  terminate(): void {
    this.#socket.terminate();
  }
}
