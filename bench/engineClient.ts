import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { createInterface, type Interface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import type { Measurement } from './engine.js';

/**
 * An engine in a separate process, which is kept between measurements, so that engines share neither heap nor JIT
 * state.
 */
export class EngineClient {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #reader: Interface;
  readonly #lines: AsyncIterator<string>;

  private constructor(command: string, args: readonly string[]) {
    this.#child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#reader = createInterface(this.#child.stdout);
    this.#lines = this.#reader[Symbol.asyncIterator]();
  }

  static async start(command: string, args: readonly string[]): Promise<EngineClient> {
    const client = new EngineClient(command, args);
    const line = await client.#line();
    if (line !== 'ready') throw new Error(`${args.join(' ')} printed '${line}' instead of 'ready'.`);
    return client;
  }

  async run(tasks: number): Promise<Measurement> {
    this.#child.stdin.write(`${tasks}\n`);
    const measurement: Measurement = JSON.parse(await this.#line());
    return measurement;
  }

  close(): void {
    this.#child.stdin.end();
    this.#reader.close();
    this.#child.kill();
  }

  async #line(): Promise<string> {
    const { value, done } = await this.#lines.next();
    if (done === true) throw new Error(`${this.#child.spawnargs.join(' ')} ended before it answered.`);
    return value;
  }
}
