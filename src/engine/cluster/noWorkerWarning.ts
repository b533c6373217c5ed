// Warns about tasks that no present worker may run. They wait for a suitable worker, as in Dask's state `no-worker`.
// The usual cause is a misspelled name, so the warning comes at once, and once per text.
import { shortened, visibleText } from '../../base/visibleText.js';
import type { SegmentPolicy } from '../scheduler/taskGraph.js';
import type { EngineParts } from './engineParts.js';

/** Most characters of a printed warning. */
const LONGEST_WARNING = 10_000;
/** Warnings that are remembered. Beyond this number all may be repeated. */
const MAX_WARNED = 1000;

/** Returns a function that warns if no connected worker satisfies a policy. */
export function noWorkerWarning(cluster: EngineParts): (policy: SegmentPolicy) => void {
  const warned = new Set<string>();
  const offer = (index: number, resource: string): number =>
    cluster.scheduler.state.workers.get(index)?.resources.get(resource) ?? 0;
  return ({ workers, resources }) => {
    if (!workers && !resources) return;
    const all = [...cluster.workers.values()];
    // An adaptive cluster adds a worker.
    if (all.length === 0) return;
    const named = all.filter(({ info }) => !workers || workers.has(info.name));
    const needs = [...(resources ?? [])];
    if (named.some(({ info }) => needs.every(([name, amount]) => offer(info.index, name) >= amount))) return;
    const names = all.map(({ info }) => info.name).join(', ');
    const text =
      named.length === 0
        ? `Tasks may only run on ${[...(workers ?? [])].join(', ')}, and no worker has that name or address. The workers are ${names}.`
        : `Tasks need ${needs.map(([name, amount]) => `${amount} ${name}`).join(', ')}, which no worker offers. Pass resources to LocalCluster.start, or as --resources to Dask workers.`;
    if (warned.has(text)) return;
    if (warned.size >= MAX_WARNED) warned.clear();
    warned.add(text);
    cluster.event('no-worker', text);
    process.emitWarning(visibleText(shortened(text, LONGEST_WARNING)), {
      type: 'LongpoleWarning',
      code: 'LONGPOLE_NO_WORKER',
    });
  };
}
