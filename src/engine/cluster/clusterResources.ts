// The resource samples of a cluster. The monitor runs only while an observer wants them.
import { ResourceFeed } from '../../resources/resourceFeed.js';
import type { MonitorTarget } from '../../resources/usageSampler.js';
import type { ClusterEngine } from './clusterEngine.js';

export class ClusterResources {
  readonly #engine: ClusterEngine;
  #feed: ResourceFeed | undefined;

  constructor(engine: ClusterEngine) {
    this.#engine = engine;
    engine.onObservers = () => this.#update();
    this.#update();
  }

  close(): void {
    this.#engine.onObservers = () => undefined;
    this.#stop();
  }

  #update(): void {
    const { wantsResources } = this.#engine;
    if (!wantsResources) this.#stop();
    else
      this.#feed ??= new ResourceFeed(
        () => this.#targets(),
        (sample) => this.#engine.notify((observer) => observer.resources?.(sample)),
      );
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
