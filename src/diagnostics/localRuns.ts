// The local schedulers as a source of a trace: a callback that has observers of clusters watch every run that it sees.
import type { RunObserver } from '../protocol/runObserver.js';
import { OBSERVERS, ProgramCallback } from './callback.js';
import { LocalResources } from './localResources.js';

/**
 * Has observers watch the runs in which it is active, each as a computation; from the first on they also receive what the
 * machine and the workers use.
 */
export class LocalRuns extends ProgramCallback {
  readonly #observers: readonly RunObserver[];
  readonly #resources: LocalResources;

  constructor(...observers: readonly RunObserver[]) {
    super();
    this.#observers = observers;
    this.#resources = new LocalResources((sample) => {
      for (const observer of observers) observer.resources?.(sample);
    });
  }

  override unregister(): void {
    this.#resources.stop();
    super.unregister();
  }

  override [OBSERVERS](): RunObserver[] {
    return [...this.#observers, this.#resources];
  }
}
