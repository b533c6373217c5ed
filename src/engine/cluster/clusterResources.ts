// The resource samples of a cluster. The monitor runs only while an observer wants them.
import { ResourceFeed } from '../../resources/resourceFeed.js';
import type { MonitorTarget } from '../../resources/usageSampler.js';
import type { ClusterEngine } from './clusterEngine.js';

/** Milliseconds after which the sampling begins: of a cluster, and of its first computation. */
const START_MS = { cluster: 1000, computation: 150 };

export class ClusterResources {
  readonly #engine: ClusterEngine;
  #feed: ResourceFeed | undefined;

  constructor(engine: ClusterEngine) {
    this.#engine = engine;
    engine.onObservers = () => this.#update();
    engine.observe({ computationAdded: () => this.#feed?.startWithin(START_MS.computation) });
  }

  close(): void {
    this.#engine.onObservers = () => undefined;
    this.#stop();
  }

  #update(): void {
    if (!this.#engine.wantsResources) {
      this.#stop();
    } else if (this.#feed === undefined) {
      this.#feed = new ResourceFeed(
        () => this.#targets(),
        (sample) => this.#engine.notify((observer) => observer.resources?.(sample)),
      );
      this.#feed.startWithin(START_MS.cluster);
    }
  }

  #stop(): void {
    const feed = this.#feed;
    this.#feed = undefined;
    feed?.stop();
  }

  #targets(): MonitorTarget[] {
    const { threads } = this.#engine.options;
    return Array.from(this.#engine.workers.values(), ({ info, facts, host }) => ({
      worker: info.index,
      pid: facts?.pid ?? info.pid,
      thread: threads,
      vitals: host.vitals,
    }));
  }
}
