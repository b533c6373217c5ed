// Counters for Prometheus that the live trace lacks. A transfer costs about 1 µs per transferred key.
import { getOrMake } from '../../base/lookUps.js';
import { keySplit } from '../../graph/key.js';
import type { ClusterObserver, MetricSample, Transfer, WorkerInfo } from '../../protocol/clusterObserver.js';
import { OTHERS } from '../../protocol/metrics.js';
import { MAX_PREFIXES } from '../../trace/totals.js';

/** Contexts and activities of the metrics of a worker's store. */
const STORE_CONTEXTS: ReadonlySet<string> = new Set(['memory-monitor', 'gather-dep', 'get-data']);
const STORE_ACTIVITIES: ReadonlySet<string> = new Set([
  'memory-read',
  'disk-read',
  'disk-write',
  'compress',
  'decompress',
]);

export interface StoreSum {
  readonly activity: string;
  readonly unit: string;
  value: number;
}

export class ClusterCounters implements ClusterObserver {
  workersAddedTotal = 0;
  workersRemovedTotal = 0;
  /** Seconds in which workers fetched results, by prefix. */
  readonly transferSeconds = new Map<string, number>();
  readonly #names = new Map<number, string>();
  /** Sums of a worker's store, by index of the worker. */
  readonly #stores = new Map<number, Map<string, StoreSum>>();

  workerAdded({ index, name }: WorkerInfo): void {
    this.workersAddedTotal++;
    this.#names.set(index, name);
  }

  /** Returns the name of a present or former worker; `client` for an index below 0. */
  nameOf(index: number): string {
    return index < 0 ? 'client' : (this.#names.get(index) ?? '');
  }

  workerRemoved({ index }: WorkerInfo): void {
    this.workersRemovedTotal++;
    this.#stores.delete(index);
  }

  /** Divides the time of a transfer equally among its results. */
  transfer({ direction, what, keys, start, stop }: Transfer): void {
    if (direction !== 'incoming' || what !== 'gather-dep') return;
    for (const key of keys) {
      const own = keySplit(key);
      const isKnown = this.transferSeconds.has(own) || this.transferSeconds.size < MAX_PREFIXES;
      const prefix = isKnown ? own : OTHERS;
      const seconds = this.transferSeconds.get(prefix) ?? 0;
      this.transferSeconds.set(prefix, seconds + (stop - start) / keys.length);
    }
  }

  metric({ worker, context, activity, unit, value }: MetricSample): void {
    if (!STORE_CONTEXTS.has(context) || !STORE_ACTIVITIES.has(activity)) return;
    const sums = getOrMake(this.#stores, worker, () => new Map<string, StoreSum>());
    getOrMake(sums, `${activity} ${unit}`, () => ({ activity, unit, value: 0 })).value += value;
  }

  /** Returns the sums of the store of a worker. */
  store(worker: number): Iterable<StoreSum> {
    return this.#stores.get(worker)?.values() ?? [];
  }
}
