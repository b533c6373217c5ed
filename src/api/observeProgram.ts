// Observes a whole program: every local cluster that the program starts, and every run of a local scheduler.
import { checkArgument, kind } from '../base/arguments.js';
import { LocalRuns } from '../diagnostics/localRuns.js';
import type { ClusterObserver } from '../protocol/clusterObserver.js';
import type { RunObserver } from '../protocol/runObserver.js';
import { JoinedSources } from '../trace/joinedSources.js';
import { LocalSamples } from './localSamples.js';

/** The part of a cluster that is used here. */
interface Observable {
  observe(observer: ClusterObserver): () => void;
}

/** One call of `observeProgram`. */
interface Watch {
  /** Makes an observer for each cluster. */
  readonly sources: JoinedSources;
  /** Functions that end the observation of the clusters. */
  readonly stops: (() => void)[];
}

const OBSERVER = kind(
  'an observer, e.g. a TraceWriter',
  (value) => typeof value === 'object' && value !== null,
);

const watches = new Set<Watch>();

/**
 * Reports to observers all tasks that this program runs from now on, on the local schedulers and on local clusters that
 * start later. Observers see a single cluster; workers of a second cluster are named e.g. `threads-0 (2)`. Local
 * schedulers record no transfers. They record the size of a result only for numbers, booleans, null and undefined, and
 * samples of the program's thread only.
 *
 *     const stop = observeProgram(TraceWriter.create('program.trace'));
 *
 * @returns a function that ends the observation; further calls have no effect
 */
export function observeProgram(...observers: readonly ClusterObserver[]): () => void {
  for (const observer of observers) checkArgument('observeProgram(): observer', observer, OBSERVER);
  return observeProgramAnd(observers, []);
}

/** Like `observeProgram`. The observers `ofLocalRuns` are added to the local schedulers only. */
export function observeProgramAnd(
  observers: readonly ClusterObserver[],
  ofLocalRuns: readonly RunObserver[],
): () => void {
  const sources = new JoinedSources(observers);
  const watch: Watch = { sources, stops: [] };
  const source = sources.add();
  const samples = observers.some((observer) => observer.profile !== undefined)
    ? [new LocalSamples(source)]
    : [];
  let local: LocalRuns | undefined = new LocalRuns(source, ...ofLocalRuns, ...samples);
  local.register();
  watches.add(watch);
  return () => {
    local?.unregister();
    local = undefined;
    for (const one of samples) one.stop();
    watches.delete(watch);
    for (const stop of watch.stops.splice(0)) stop();
  };
}

/** Adds the observers of the program to a cluster that is about to start. */
export function watchCluster(cluster: Observable): void {
  for (const { sources, stops } of watches) stops.push(cluster.observe(sources.add()));
}
