// Names of the workers of a run, and sums of those that are present.
import { getOrMake } from '../base/lookUps.js';
import type { MetricSample, WorkerInfo } from '../protocol/clusterObserver.js';

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

export class WorkerSums {
  removed = 0;
  readonly #names = new Map<number, string>();
  /** Sums of a worker's store, by index of the worker. */
  readonly #stores = new Map<number, Map<string, StoreSum>>();

  /** Number of present and former workers. */
  get added(): number {
    return this.#names.size;
  }

  /** Returns the name of a present or former worker; `client` for an index below 0. */
  nameOf(index: number): string {
    return index < 0 ? 'client' : (this.#names.get(index) ?? '');
  }

  add({ index, name }: WorkerInfo): void {
    this.#names.set(index, name);
  }

  remove({ index }: WorkerInfo): void {
    this.removed++;
    this.#stores.delete(index);
  }

  addMetric({ worker, context, activity, unit, value }: MetricSample): void {
    if (!STORE_CONTEXTS.has(context) || !STORE_ACTIVITIES.has(activity)) return;
    const sums = getOrMake(this.#stores, worker, () => new Map<string, StoreSum>());
    getOrMake(sums, `${activity} ${unit}`, () => ({ activity, unit, value: 0 })).value += value;
  }

  store(worker: number): Iterable<StoreSum> {
    return this.#stores.get(worker)?.values() ?? [];
  }
}
