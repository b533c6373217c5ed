// Output of a socket. Small pieces are gathered, and large ones are sent directly. The sender waits while the other
// side does not read.
import type { Socket } from 'node:net';

const STAGE_BYTES = 64 * 1024;
/** Bytes above which a piece is not copied. */
const COPY_BYTES = 16 * 1024;

export class OutputStage {
  readonly #socket: Socket;
  #stage: Uint8Array | undefined;
  #staged = 0;
  #waiting: (() => void)[] = [];

  constructor(socket: Socket) {
    this.#socket = socket;
    const wake = (): void => {
      const waiting = this.#waiting;
      this.#waiting = [];
      for (const resolve of waiting) resolve();
    };
    socket.on('drain', wake);
    socket.on('close', wake);
  }

  /** Appends bytes without waiting; see `ready`. */
  append(bytes: Uint8Array): void {
    if (bytes.byteLength > COPY_BYTES) {
      this.flush();
      this.#write(bytes);
      return;
    }
    if (this.#staged + bytes.byteLength > STAGE_BYTES) this.flush();
    // The socket keeps the buffers that it was given, so each stage is used once.
    this.#stage ??= new Uint8Array(STAGE_BYTES);
    this.#stage.set(bytes, this.#staged);
    this.#staged += bytes.byteLength;
  }

  flush(): void {
    if (this.#stage === undefined) return;
    const bytes = this.#stage.subarray(0, this.#staged);
    this.#stage = undefined;
    this.#staged = 0;
    this.#write(bytes);
  }

  /** Resolves when the system has taken enough of the output, or the connection is gone. */
  async ready(): Promise<void> {
    while (this.#socket.writableNeedDrain && !this.#socket.destroyed) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  /** Resolves with true when the system has taken all output so far; with false if the connection is gone. */
  flushed(): Promise<boolean> {
    this.flush();
    return new Promise((resolve) => {
      if (this.#socket.destroyed) resolve(false);
      else this.#socket.write('', (error) => resolve(error === undefined || error === null));
    });
  }

  #write(bytes: Uint8Array): void {
    if (!this.#socket.destroyed && bytes.byteLength > 0) this.#socket.write(bytes);
  }
}
