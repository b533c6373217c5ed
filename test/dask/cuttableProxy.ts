// A TCP proxy whose connections can be cut and mended.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

export class CuttableProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #scheme: string;
  readonly #target: URL;
  #cut: (() => void) | undefined;

  private constructor(target: string) {
    const [scheme = '', place = ''] = target.split('//');
    this.#scheme = scheme;
    this.#target = new URL(`http://${place}`);
    this.#server = createServer((socket) => this.#accept(socket));
  }

  /** @param target address of the server, e.g. `tcp://127.0.0.1:8786` or `tls://127.0.0.1:8786` */
  static async start(target: string): Promise<CuttableProxy> {
    const proxy = new CuttableProxy(target);
    await once(proxy.#server.listen(0, '127.0.0.1'), 'listening');
    return proxy;
  }

  get address(): string {
    const address = this.#server.address();
    assert.ok(address !== null && typeof address === 'object');
    return `${this.#scheme}//127.0.0.1:${address.port}`;
  }

  /** Breaks all connections and rejects new ones. Resolves when a new one has been rejected. */
  cut(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    return new Promise((resolve) => {
      this.#cut = resolve;
    });
  }

  mend(): void {
    this.#cut = undefined;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #accept(client: Socket): void {
    if (this.#cut !== undefined) {
      client.destroy();
      this.#cut();
      return;
    }
    const server = connect(Number(this.#target.port), this.#target.hostname);
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(from);
      from.on('error', () => undefined);
      from.on('close', () => {
        this.#sockets.delete(from);
        to.destroy();
      });
      from.pipe(to);
    }
  }
}
