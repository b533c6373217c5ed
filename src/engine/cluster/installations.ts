// Plugins of workers. Every isolate of a cluster calls their setup when it starts. It calls their teardown when its
// worker leaves or the plugin is removed.
import { messageOf } from '../../base/errors.js';
import type { FunctionRef } from '../../protocol/functionRef.js';
import { within } from '../within.js';
import type { EngineParts } from './engineParts.js';
import type { EngineWorker } from './engineWorker.js';

export interface Installation {
  readonly fn: FunctionRef;
  /** The teardown. */
  readonly end: FunctionRef;
  readonly context: Readonly<Record<string, unknown>>;
}

/** Time limit for the teardown on a worker, which may be busy, in milliseconds. */
const END_MS = 3000;

export class Installations {
  readonly #owner: Pick<EngineParts, 'workers' | 'event'>;
  readonly #byName = new Map<string, Installation>();

  constructor(owner: Pick<EngineParts, 'workers' | 'event'>) {
    this.#owner = owner;
  }

  get size(): number {
    return this.#byName.size;
  }

  /**
   * Calls the setup on every worker, now and whenever an isolate starts. Rejects if the setup fails on a present
   * worker; then the other workers tear it down, and it is not called again.
   */
  async add(name: string, installation: Installation): Promise<void> {
    this.#byName.set(name, installation);
    const failures = new Map<EngineWorker, unknown>();
    await Promise.all(
      Array.from(this.#owner.workers.values(), (worker) =>
        setUp(worker, installation).catch((error: unknown) => failures.set(worker, error)),
      ),
    );
    if (failures.size === 0) return;
    if (this.#byName.get(name) === installation) this.#byName.delete(name);
    const others = [...this.#owner.workers.values()].filter((worker) => !failures.has(worker));
    await Promise.all(others.map((worker) => this.#end(worker, [installation])));
    throw failures.values().next().value;
  }

  /** Resolves after the teardown on all workers, at the latest after three seconds. */
  async remove(name: string): Promise<void> {
    const installation = this.#byName.get(name);
    if (installation === undefined) return;
    this.#byName.delete(name);
    await Promise.all(
      Array.from(this.#owner.workers.values(), (worker) => this.#end(worker, [installation])),
    );
  }

  /** Calls every setup on a new isolate. Tasks that are sent later wait for the end of these calls. */
  begin(worker: EngineWorker): void {
    for (const installation of this.#byName.values())
      setUp(worker, installation).catch((error: unknown) => this.#complain(worker, error));
  }

  /** Calls every teardown on a leaving worker. Resolves after at most three seconds. */
  end(worker: EngineWorker): Promise<void> {
    return this.#end(worker, [...this.#byName.values()]);
  }

  async #end(worker: EngineWorker, installations: readonly Installation[]): Promise<void> {
    if (installations.length === 0 || worker.facts === undefined) return;
    const calls = installations.map((installation) =>
      tearDown(worker, installation).catch((error: unknown) => this.#complain(worker, error)),
    );
    if (await within(END_MS, Promise.all(calls))) return;
    const text = `The teardown of a plugin did not end within ${END_MS / 1000} s. The worker does not wait for it any longer.`;
    this.#owner.event('plugin-error', text, worker.info.index);
  }

  #complain(worker: EngineWorker, error: unknown): void {
    this.#owner.event('plugin-error', messageOf(error), worker.info.index);
  }
}

/** Rejects instead of throwing. */
async function setUp({ host }: EngineWorker, { fn, context }: Installation): Promise<unknown> {
  return host.call(fn, context, true);
}

/** Tasks do not wait for it: a teardown that does not end must not stop a worker that stays. Rejects instead of throwing. */
async function tearDown({ host }: EngineWorker, { end, context }: Installation): Promise<unknown> {
  return host.call(end, context);
}
