// What watches a whole program: every local cluster that it starts and every run of a local scheduler.
import { LocalRuns } from '../diagnostics/localRuns.js';
import type { ClusterObserver } from '../protocol/clusterObserver.js';
import type { RunObserver } from '../protocol/runObserver.js';
import { JoinedSources } from '../trace/joinedSources.js';

/** What clusters are asked for. */
interface Observable {
  observe(observer: ClusterObserver): () => void;
}

/** One who watches: what it gets an observer from for each cluster, and what ends that. */
interface Watch {
  readonly sources: JoinedSources;
  readonly stops: (() => void)[];
}

const watches = new Set<Watch>();

/**
 * Tells observers of everything that this program computes from now on, as if it were one cluster: on local clusters that
 * start from now on, and on the local schedulers. Workers of a second cluster are named e.g. `threads-0 (2)`. Local schedulers
 * measure no transfers, and sizes only of results that are numbers, booleans, null or undefined.
 *
 *     const stop = observeProgram(TraceWriter.create('program.trace'));
 *
 * @returns what ends it
 */
export function observeProgram(...observers: readonly ClusterObserver[]): () => void {
  return observeProgramAnd(observers, []);
}

/** The same. `ofLocalRuns` watch the runs of local schedulers only. */
export function observeProgramAnd(
  observers: readonly ClusterObserver[],
  ofLocalRuns: readonly RunObserver[],
): () => void {
  const sources = new JoinedSources(observers);
  const watch: Watch = { sources, stops: [] };
  let local: LocalRuns | undefined = new LocalRuns(sources.add(), ...ofLocalRuns);
  local.register();
  watches.add(watch);
  return () => {
    local?.unregister();
    local = undefined;
    watches.delete(watch);
    for (const stop of watch.stops.splice(0)) stop();
  };
}

/** A cluster is about to start: who watches the program watches it, too. */
export function watchCluster(cluster: Observable): void {
  for (const { sources, stops } of watches) stops.push(cluster.observe(sources.add()));
}
