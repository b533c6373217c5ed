// Worker plugins that append their calls to a file.
import { appendFileSync } from 'node:fs';
import type { WorkerPlugin } from 'longpole';

export class Noting implements WorkerPlugin {
  readonly #path: string;

  constructor({ path }: { path: string }) {
    this.#path = path;
  }

  setup({ worker }: { worker: { name: string } }): void {
    this.#note(['setup', worker.name]);
  }

  teardown({ worker }: { worker: { name: string } }): void {
    this.#note(['teardown', worker.name]);
  }

  transition(key: string, start: string, finish: string, { worker }: { worker: { name: string } }): void {
    this.#note([key, start, finish, worker.name]);
  }

  #note(what: readonly string[]): void {
    appendFileSync(this.#path, `${JSON.stringify(what)}\n`);
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
