// Messages between a program and a worker process on a Dask cluster. They have two routes: through the bridge and Dask,
// which loses nothing, and a direct connection, which is faster and may break. Numbers keep the order over both routes.
// Messages that the other side has not confirmed when the connection breaks travel again, through Dask.
import type { Socket } from 'node:net';
import { SilenceWatch } from '../silence.js';
import { encodeMessage, MessageDecoder, type Packet, setNumbers } from './messageCodec.js';

/** Seconds without a byte after which a connection counts as broken. A heartbeat and its answer travel every half second. */
const SILENCE_SECONDS = 10;

/** `M` is the type of the messages that the other side sends. */
export class RoutedMessages<M = unknown> {
  readonly #sendSlowly: (packet: Uint8Array) => void;
  readonly #onMessage: (message: M) => void;
  readonly #slow = new MessageDecoder<M>();
  /** The direct connection, if messages may be sent over it. */
  #direct: Socket | undefined;
  /** Number of the last message that was sent. */
  #sent = 0;
  /** Number of the last message that was received in order. */
  #received = 0;
  /** Received messages that have to wait for earlier ones. */
  readonly #early = new Map<number, M>();
  /** Messages that were sent over the connection, and are not confirmed. */
  #unconfirmed: { readonly number: number; readonly packet: Buffer }[] = [];

  /** @param sendSlowly sends bytes by the route that loses nothing */
  constructor(sendSlowly: (packet: Uint8Array) => void, onMessage: (message: M) => void) {
    this.#sendSlowly = sendSlowly;
    this.#onMessage = onMessage;
  }

  /**
   * Sends a message after the earlier ones.
   *
   * @param packet encoded message
   * @param isSlow whether the message must not overtake other data on the slow route
   */
  send(packet: Buffer, isSlow = false): void {
    const number = ++this.#sent;
    setNumbers(packet, number, this.#received);
    if (this.#direct === undefined || isSlow) {
      this.#sendSlowly(packet);
      return;
    }
    this.#unconfirmed.push({ number, packet });
    this.#direct.write(packet);
  }

  /** Receives bytes from the slow route. */
  receive(bytes: Uint8Array): void {
    for (const packet of this.#slow.push(bytes)) this.#take(packet);
  }

  /** Uses a connection that the other side has requested. */
  accept(socket: Socket): void {
    this.connect(socket, () => undefined);
    this.#use(socket);
    // Confirms to the other side that the connection can be used.
    const packet = encodeMessage(undefined);
    setNumbers(packet, 0, this.#received);
    socket.write(packet);
  }

  /**
   * Uses a connection from its first packet until it breaks.
   *
   * @param onClose called when it has closed. `wasUsed` is false if no packet has arrived.
   */
  connect(socket: Socket, onClose: (wasUsed: boolean) => void): void {
    const decoder = new MessageDecoder<M>();
    const watch = new SilenceWatch(SILENCE_SECONDS, SILENCE_SECONDS, () => socket.destroy());
    let wasUsed = false;
    socket.on('data', (bytes: Buffer) => {
      watch.received();
      if (!wasUsed) this.#use(socket);
      wasUsed = true;
      for (const packet of decoder.push(bytes)) this.#take(packet);
    });
    // The event `close` follows.
    socket.on('error', () => undefined);
    socket.once('close', () => {
      watch.close();
      this.#close(socket);
      onClose(wasUsed);
    });
  }

  #use(socket: Socket): void {
    const former = this.#direct;
    if (former === socket) return;
    // The other side may notice the end of a connection first, and open the next one.
    if (former !== undefined) this.#close(former);
    former?.destroy();
    this.#direct = socket;
  }

  #close(socket: Socket): void {
    if (this.#direct !== socket) return;
    this.#direct = undefined;
    for (const { packet } of this.#unconfirmed.splice(0)) this.#sendSlowly(packet);
  }

  #take({ number, received, message }: Packet<M>): void {
    const left = this.#unconfirmed.findIndex((sent) => sent.number > received);
    this.#unconfirmed.splice(0, left < 0 ? this.#unconfirmed.length : left);
    if (number > this.#received) this.#early.set(number, message);
    // A connection that was accepted begins with a packet without a message.
    else if (number === 0 && message !== undefined) this.#onMessage(message);
    for (let next = this.#received + 1; this.#early.has(next); next = this.#received + 1) {
      const ready = this.#early.get(next)!;
      this.#early.delete(next);
      this.#received = next;
      this.#onMessage(ready);
    }
  }
}
