// Tasks that no worker may run wait until one comes that may, as Dask's do in its state `no-worker`. Mostly it is a name
// that is spelled wrong, so it is said at once, and once.
import type { Scheduler } from '../scheduler/scheduler.js';
import type { SegmentPolicy } from '../scheduler/taskGraph.js';
import type { EngineWorker } from './engineWorker.js';

interface Cluster {
  readonly scheduler: Scheduler;
  readonly workers: ReadonlyMap<number, EngineWorker>;
  event(topic: string, text: string): void;
}

/** Texts that are remembered as told; beyond it all are told again. */
const MAX_TOLD = 1000;

export class NoWorkerWarning {
  readonly #cluster: Cluster;
  readonly #warned = new Set<string>();

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  /** Tells it if nobody that is there may run tasks with this policy. */
  check({ workers, resources }: SegmentPolicy): void {
    if (!workers && !resources) return;
    const all = [...this.#cluster.workers.values()];
    const named = all.filter(({ info }) => !workers || workers.has(info.name));
    const needs = [...(resources ?? [])];
    if (named.some(({ info }) => needs.every(([name, amount]) => this.#offer(info.index, name) >= amount)))
      return;
    const names = all.map(({ info }) => info.name).join(', ');
    const text =
      named.length === 0
        ? `Tasks wait for ${[...(workers ?? [])].join(', ')}, and no worker is called so. There are ${names}.`
        : `Tasks wait for a worker that offers ${needs.map(([name, amount]) => `${amount} ${name}`).join(', ')}, and none does. Workers offer what LocalCluster.start is given as resources.`;
    if (this.#warned.has(text)) return;
    if (this.#warned.size >= MAX_TOLD) this.#warned.clear();
    this.#warned.add(text);
    this.#cluster.event('no-worker', text);
    process.emitWarning(text, { type: 'LongpoleWarning', code: 'LONGPOLE_NO_WORKER' });
  }

  #offer(index: number, resource: string): number {
    return this.#cluster.scheduler.state.workers.get(index)?.resources.get(resource) ?? 0;
  }
}
