// The resource samples of a cluster. The monitor runs only while an observer wants them.
import { ResourceFeed } from '../../resources/resourceFeed.js';
import type { MonitorTarget } from '../../resources/usageSampler.js';
import type { ClusterEngine } from './clusterEngine.js';

/** Milliseconds after which the sampling begins: of a cluster, and of its first computation. */
const START_MS = { cluster: 1000, computation: 150 };

/** Returns a function that ends the sampling. */
export function sampleResources(engine: ClusterEngine): () => void {
  let feed: ResourceFeed | undefined;
  const stop = (): void => {
    feed?.stop();
    feed = undefined;
  };
  engine.onObservers = () => {
    if (!engine.wantsResources) stop();
    else if (feed === undefined) {
      feed = new ResourceFeed(
        () => targetsOf(engine),
        (sample) => engine.notify((observer) => observer.resources?.(sample)),
      );
      feed.startWithin(START_MS.cluster);
    }
  };
  engine.observe({ computationAdded: () => feed?.startWithin(START_MS.computation) });
  return () => {
    engine.onObservers = () => undefined;
    stop();
  };
}

function targetsOf({ options, workers }: ClusterEngine): MonitorTarget[] {
  return Array.from(workers.values(), ({ info, facts, host }) => ({
    worker: info.index,
    pid: facts?.pid ?? info.pid,
    thread: options.threads,
    vitals: host.vitals,
  }));
}
