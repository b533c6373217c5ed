// Warns about tasks that no present worker may run. They wait for a suitable worker, as in Dask's state `no-worker`.
// The usual cause is a misspelled name, so the warning comes at once, and once per text.
import { shortened, visibleText } from '../../base/visibleText.js';
import type { SegmentPolicy } from '../scheduler/taskGraph.js';
import type { EngineParts } from './engineParts.js';

/** Most characters of a printed warning. */
const LONGEST_WARNING = 10_000;
/** Warnings that are remembered. Beyond this number all may be repeated. */
const MAX_WARNED = 1000;

export class NoWorkerWarning {
  readonly #cluster: EngineParts;
  readonly #warned = new Set<string>();

  constructor(cluster: EngineParts) {
    this.#cluster = cluster;
  }

  /** Warns if no connected worker satisfies this policy. */
  check({ workers, resources }: SegmentPolicy): void {
    if (!workers && !resources) return;
    const all = [...this.#cluster.workers.values()];
    // An adaptive cluster adds a worker.
    if (all.length === 0) return;
    const named = all.filter(({ info }) => !workers || workers.has(info.name));
    const needs = [...(resources ?? [])];
    if (named.some(({ info }) => needs.every(([name, amount]) => this.#offer(info.index, name) >= amount)))
      return;
    const names = all.map(({ info }) => info.name).join(', ');
    const text =
      named.length === 0
        ? `Tasks may only run on ${[...(workers ?? [])].join(', ')}, and no worker has that name or address. The workers are ${names}.`
        : `Tasks need ${needs.map(([name, amount]) => `${amount} ${name}`).join(', ')}, which no worker offers. Pass resources to LocalCluster.start, or as --resources to Dask workers.`;
    if (this.#warned.has(text)) return;
    if (this.#warned.size >= MAX_WARNED) this.#warned.clear();
    this.#warned.add(text);
    this.#cluster.event('no-worker', text);
    process.emitWarning(visibleText(shortened(text, LONGEST_WARNING)), {
      type: 'LongpoleWarning',
      code: 'LONGPOLE_NO_WORKER',
    });
  }

  #offer(index: number, resource: string): number {
    return this.#cluster.scheduler.state.workers.get(index)?.resources.get(resource) ?? 0;
  }
}
