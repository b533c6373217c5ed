// Worker plugins that append their calls to a file.
import { appendFileSync, existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { WorkerPlugin } from 'longpole';

export class Noting implements WorkerPlugin {
  readonly #path: string;

  constructor({ path }: { path: string }) {
    this.#path = path;
  }

  setup({ worker }: { worker: { name: string } }): Promise<void> | void {
    this.note(['setup', worker.name]);
  }

  teardown({ worker }: { worker: { name: string } }): void {
    this.note(['teardown', worker.name]);
  }

  transition(key: string, start: string, finish: string, { worker }: { worker: { name: string } }): void {
    this.note([key, start, finish, worker.name]);
  }

  protected note(what: readonly string[]): void {
    appendFileSync(this.#path, `${JSON.stringify(what)}\n`);
  }
}

/** A plugin whose setup ends when the file at `gate` exists. */
export class Gated extends Noting {
  readonly #gate: string;

  constructor(options: { path: string; gate: string }) {
    super(options);
    this.#gate = options.gate;
  }

  override async setup(context: { worker: { name: string } }): Promise<void> {
    this.note(['begins', context.worker.name]);
    while (!existsSync(this.#gate)) await delay(1);
    await super.setup(context);
  }
}

export const makesOne = (options: { path: string }): WorkerPlugin => new Noting(options);

export const ready: WorkerPlugin = {
  setup() {
    Reflect.set(globalThis, 'readyMade', 'is there');
  },
};

export const nothing = 5;

/** A plugin whose setup fails on `worker-1`. */
export class Failing extends Noting {
  override setup(context: { worker: { name: string } }): void {
    if (context.worker.name === 'worker-1') throw new Error('not here');
    super.setup(context);
  }
}
