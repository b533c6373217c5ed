// What every isolate of a cluster calls when it begins, and once more when its worker leaves or the thing is taken away:
// plugins of workers.
import { isError } from '../../base/isError.js';
import type { FunctionRef } from '../../protocol/functionRef.js';
import type { EngineWorker } from './engineWorker.js';

export interface Installation {
  readonly fn: FunctionRef;
  /** What takes it away again. */
  readonly end: FunctionRef;
  readonly context: Readonly<Record<string, unknown>>;
}

/** What it needs of the cluster. */
interface InstallationOwner {
  readonly workers: ReadonlyMap<number, EngineWorker>;
  event(topic: string, text: string, worker?: number): void;
}

/** How long a worker that leaves, and may be busy, has to end what was installed, in milliseconds. */
const END_MS = 3000;

export class Installations {
  readonly #owner: InstallationOwner;
  readonly #byName = new Map<string, Installation>();

  constructor(owner: InstallationOwner) {
    this.#owner = owner;
  }

  get size(): number {
    return this.#byName.size;
  }

  /**
   * Has every worker call it, now and whenever an isolate begins. Rejects if one that is there fails; then the others end it, and
   * it is not called again.
   */
  async add(name: string, installation: Installation): Promise<void> {
    this.#byName.set(name, installation);
    const failures = new Map<EngineWorker, unknown>();
    await Promise.all(
      Array.from(this.#owner.workers.values(), (worker) =>
        call(worker, installation.fn, installation).catch((error: unknown) => failures.set(worker, error)),
      ),
    );
    if (failures.size === 0) return;
    if (this.#byName.get(name) === installation) this.#byName.delete(name);
    const others = [...this.#owner.workers.values()].filter((worker) => !failures.has(worker));
    await Promise.all(others.map((worker) => this.#end(worker, [installation])));
    throw failures.values().next().value;
  }

  /** Resolves when all workers have ended it, or three seconds later. */
  async remove(name: string): Promise<void> {
    const installation = this.#byName.get(name);
    if (installation === undefined) return;
    this.#byName.delete(name);
    await Promise.all(
      Array.from(this.#owner.workers.values(), (worker) => this.#end(worker, [installation])),
    );
  }

  /** A new isolate: calls behind what it is told later wait for these. */
  begin(worker: EngineWorker): void {
    for (const installation of this.#byName.values())
      call(worker, installation.fn, installation).catch((error: unknown) => this.#complain(worker, error));
  }

  /** The worker leaves. Resolves when it has ended everything, or three seconds later. */
  end(worker: EngineWorker): Promise<void> {
    return this.#end(worker, [...this.#byName.values()]);
  }

  async #end(worker: EngineWorker, installations: readonly Installation[]): Promise<void> {
    if (installations.length === 0 || worker.facts === undefined) return;
    const calls = installations.map((installation) =>
      call(worker, installation.end, installation).catch((error: unknown) => this.#complain(worker, error)),
    );
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(() => {
        this.#owner.event(
          'plugin-error',
          `Teardown has not ended within ${END_MS / 1000} s: it is not waited for.`,
          worker.info.index,
        );
        resolve();
      }, END_MS);
    });
    await Promise.race([Promise.all(calls), late]);
    clearTimeout(timer);
  }

  #complain(worker: EngineWorker, error: unknown): void {
    const text = isError(error) ? error.message : String(error);
    this.#owner.event('plugin-error', text, worker.info.index);
  }
}

/** Never throws, only rejects. */
async function call({ host }: EngineWorker, fn: FunctionRef, { context }: Installation): Promise<unknown> {
  return host.call(fn, context);
}
