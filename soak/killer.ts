// Kills random workers of a cluster while a round computes.
import type { Client } from 'longpole';
import { isAlive } from '../test/support/programs.js';
import type { Random } from './random.js';

/** Default time between two kills, in seconds. */
const KILL_EVERY = 0.2;

/**
 * Kills random running workers at a fixed interval: a process by SIGKILL, a thread by process.exit(). Never kills the
 * last running worker, because workers would die faster than they start on a slow machine.
 */
export class Killer {
  /** True while no worker may be killed. */
  isPaused = false;
  readonly #client: Client;
  readonly #processes: boolean;
  readonly #random: Random;
  readonly #killed: () => void;
  readonly #up = new Set<string>();
  readonly #timer: NodeJS.Timeout;
  #stopped = false;
  readonly #dying = new Set<Promise<void>>();

  constructor(
    client: Client,
    processes: boolean,
    random: Random,
    killed: () => void,
    every: number = KILL_EVERY,
  ) {
    this.#client = client;
    this.#processes = processes;
    this.#random = random;
    this.#killed = killed;
    for (const name of Object.keys(client.schedulerInfo().workers)) this.#up.add(name);
    this.#timer = setInterval(() => this.#kill(), every * 1000);
  }

  stop(): void {
    this.#stopped = true;
    clearInterval(this.#timer);
  }

  /** Resolves when all killed workers have answered again. */
  async settled(): Promise<void> {
    await Promise.all(this.#dying);
  }

  #kill(): void {
    if (this.#up.size < 2 || this.isPaused) return;
    const victim = this.#random.pick([...this.#up]);
    const { pid } = this.#client.schedulerInfo().workers[victim]!;
    this.#up.delete(victim);
    // A worker that has just answered may already be ending.
    if (this.#processes && !isAlive(pid)) return void this.#awaitUp(victim);
    this.#killed();
    if (this.#processes) process.kill(pid, 'SIGKILL');
    const last = this.#processes ? () => undefined : () => process.exit(9);
    const dying = this.#ask(victim, last).then(() => this.#awaitUp(victim));
    this.#dying.add(dying);
    void dying.then(() => this.#dying.delete(dying));
  }

  async #awaitUp(name: string): Promise<void> {
    while (!this.#stopped && !(await this.#ask(name, () => true)));
    this.#up.add(name);
  }

  /** Calls a function on a worker. Returns whether the worker has answered. */
  #ask(name: string, fn: () => unknown): Promise<boolean> {
    return this.#client.run(fn, { workers: [name] }).then(
      (answers) => answers[name] === true,
      () => false,
    );
  }
}
