// Kills random workers of a cluster while a round computes.
import type { Client } from 'longpole';
import { isAlive } from '../test/support/programs.js';
import type { Random } from './random.js';

const KILL_EVERY_MS = 200;

/**
 * Kills a worker that is up, at random, as often as it may: a process by SIGKILL, a thread by process.exit(). The last one
 * that is up is spared: on a slow machine workers would otherwise die faster than they start.
 */
export class Killer {
  /** While this is true, no worker is killed. */
  spares = false;
  readonly #client: Client;
  readonly #processes: boolean;
  readonly #random: Random;
  readonly #killed: () => void;
  readonly #up = new Set<string>();
  readonly #timer: NodeJS.Timeout;
  #stopped = false;

  constructor(client: Client, processes: boolean, random: Random, killed: () => void) {
    this.#client = client;
    this.#processes = processes;
    this.#random = random;
    this.#killed = killed;
    for (const name of Object.keys(client.schedulerInfo().workers)) this.#up.add(name);
    this.#timer = setInterval(() => this.#kill(), KILL_EVERY_MS);
  }

  stop(): void {
    this.#stopped = true;
    clearInterval(this.#timer);
  }

  #kill(): void {
    if (this.#up.size < 2 || this.spares) return;
    const victim = this.#random.pick([...this.#up]);
    const { pid } = this.#client.schedulerInfo().workers[victim]!;
    this.#up.delete(victim);
    // One that answered a moment ago may have been on its way out.
    if (this.#processes && !isAlive(pid)) return void this.#awaitUp(victim);
    this.#killed();
    if (this.#processes) process.kill(pid, 'SIGKILL');
    const last = this.#processes ? () => undefined : () => process.exit(9);
    void this.#ask(victim, last).then(() => this.#awaitUp(victim));
  }

  async #awaitUp(name: string): Promise<void> {
    while (!this.#stopped && !(await this.#ask(name, () => true)));
    this.#up.add(name);
  }

  /** Whether the worker has answered. */
  #ask(name: string, fn: () => unknown): Promise<boolean> {
    return this.#client.run(fn, { workers: [name] }).then(
      (answers) => answers[name] === true,
      () => false,
    );
  }
}
