// The local schedulers as a source of a trace: a callback that has an observer of clusters watch every run that it sees.
import type { ClusterObserver } from '../protocol/clusterObserver.js';
import type { RunObserver } from '../protocol/runObserver.js';
import { OBSERVERS, ProgramCallback } from './callback.js';
import { LocalResources } from './localResources.js';

/**
 * Has `observer` watch the runs in which it is active, each as a computation; from the first on it also receives what the
 * machine and the workers use.
 */
export class LocalRuns extends ProgramCallback {
  readonly #observer: ClusterObserver;
  readonly #resources: LocalResources;

  constructor(observer: ClusterObserver) {
    super();
    this.#observer = observer;
    this.#resources = new LocalResources((sample) => observer.resources?.(sample));
  }

  override unregister(): void {
    this.#resources.stop();
    super.unregister();
  }

  override [OBSERVERS](): RunObserver[] {
    return [this.#observer, this.#resources];
  }
}
