// Joins several sources of events. Each cluster and each local scheduler of a program numbers its workers, computations
// and tasks from 0. Here the numbers become unique, so that one observer can watch all sources.
import { getOrMake, recordOf } from '../base/lookUps.js';
import type {
  ClusterEvent,
  ClusterObserver,
  Computation,
  EndReason,
  MemorySample,
  MetricSample,
  ProfileCycle,
  ResourceSample,
  TaskRuns,
  Transfer,
  WorkerInfo,
  WorkInterval,
} from '../protocol/clusterObserver.js';
import type { KindOf } from '../protocol/metrics.js';
import { fileColumns, RECORDED_TABLES, type RecordedTable } from '../protocol/traceSchema.js';

/** Distance between the first task ids of two sources. Ids stay exact in float64 for 8,192 sources. */
const IDS_PER_SOURCE = 2 ** 40;

/** Returns the number of the source of a task: 0 for local schedulers, 1 for the first cluster of a program, and so on. */
export function sourceOf(id: number): number {
  return Math.floor(id / IDS_PER_SOURCE);
}

/** Columns that refer to workers or tasks. */
const REFERENCES = recordOf(RECORDED_TABLES, (table) =>
  fileColumns(table).filter(({ kind }) => kind === 'worker' || kind === 'task'),
);

interface Joined {
  readonly observers: readonly ClusterObserver[];
  workers: number;
  computations: number;
  readonly names: Set<string>;
}

/** Forwards the events of several sources to the observers, as if the sources were one cluster. */
export class JoinedSources {
  readonly #joined: Joined;
  #sources = 0;

  constructor(observers: readonly ClusterObserver[]) {
    this.#joined = { observers, workers: 0, computations: 0, names: new Set() };
  }

  add(): ClusterObserver {
    return new Source(this.#joined, this.#sources++);
  }
}

class Source implements ClusterObserver {
  readonly #joined: Joined;
  readonly #names = new Map<string, string>();
  readonly #number: number;
  readonly #firstId: number;
  readonly #workers = new Map<number, WorkerInfo>();
  readonly #computations = new WeakMap<Computation, Computation>();

  readonly interval = this.#rows<WorkInterval>('intervals', (observer, row) => observer.interval?.(row));
  readonly transfer = this.#rows<Transfer>('transfers', (observer, row) => observer.transfer?.(row));
  readonly memory = this.#rows<MemorySample>('memory', (observer, row) => observer.memory?.(row));
  readonly resources = this.#rows<ResourceSample>('resources', (observer, row) => observer.resources?.(row));
  readonly metric = this.#rows<MetricSample>('metrics', (observer, row) => observer.metric?.(row));
  readonly event = this.#rows<ClusterEvent>('events', (observer, row) => observer.event?.(row));

  constructor(joined: Joined, number: number) {
    this.#joined = joined;
    this.#number = number;
    this.#firstId = number * IDS_PER_SOURCE;
  }

  computationAdded(computation: Computation): void {
    const joined = this.#computation(computation);
    this.#notify((observer) => observer.computationAdded?.(joined));
  }

  computationForgotten(computation: Computation): void {
    const joined = this.#computation(computation);
    this.#notify((observer) => observer.computationForgotten?.(joined));
  }

  tasksEnded(runs: TaskRuns): void {
    const computation = this.#computation(runs.computation);
    const joined = { ...runs, computation, worker: this.#index(runs.worker) };
    this.#notify((observer) => observer.tasksEnded?.(joined));
  }

  tasksDropped(computation: Computation, ids: readonly number[], why: EndReason): void {
    const joined = this.#computation(computation);
    this.#notify((observer) => observer.tasksDropped?.(joined, ids, why));
  }

  workerAdded(worker: WorkerInfo): void {
    // Every run of a local scheduler adds its workers again.
    if (this.#workers.has(worker.index)) return;
    const joined = this.#worker(worker);
    this.#notify((observer) => observer.workerAdded?.(joined));
  }

  workerRemoved(worker: WorkerInfo, time: number, reason: string): void {
    const joined = this.#worker(worker);
    this.#notify((observer) => observer.workerRemoved?.(joined, time, reason));
  }

  profile(worker: number, cycle: ProfileCycle, kindOf: KindOf): void {
    const tasks = cycle.tasks.map((task) => (task < 0 ? -1 : task + this.#firstId));
    const [index, joined] = [this.#index(worker), { ...cycle, tasks }];
    this.#notify((observer) => observer.profile?.(index, joined, (task) => kindOf(task - this.#firstId)));
  }

  /** Returns a function that passes on rows with the joined numbers. */
  #rows<R extends object>(table: RecordedTable, pass: (observer: ClusterObserver, row: R) => void) {
    return (row: R): void => {
      const joined = this.#row(table, row);
      this.#notify((observer) => pass(observer, joined));
    };
  }

  /** Returns a row with the joined numbers of its workers and tasks. */
  #row<R extends object>(table: RecordedTable, row: R): R {
    const numbers = REFERENCES[table].map(({ name, kind }): [string, number] => {
      const value: unknown = Reflect.get(row, name);
      if (typeof value !== 'number' || value < 0) return [name, -1];
      return [name, kind === 'worker' ? this.#index(value) : value + this.#firstId];
    });
    return { ...row, ...Object.fromEntries(numbers) };
  }

  #notify(call: (observer: ClusterObserver) => void): void {
    for (const observer of this.#joined.observers) call(observer);
  }

  #computation(computation: Computation): Computation {
    let joined = this.#computations.get(computation);
    if (joined === undefined) {
      joined = {
        ...computation,
        number: ++this.#joined.computations,
        firstId: computation.firstId + this.#firstId,
        externals: computation.externals.map((id) => id + this.#firstId),
      };
      this.#computations.set(computation, joined);
    }
    return joined;
  }

  /**
   * Returns the joined index of a worker. Returns -1 for -1 (the client or the scheduler) and for a worker that was not
   * added.
   */
  #index(worker: number): number {
    return this.#workers.get(worker)?.index ?? -1;
  }

  #worker(worker: WorkerInfo): WorkerInfo {
    return getOrMake(this.#workers, worker.index, () => ({
      ...worker,
      index: this.#joined.workers++,
      name: this.#nameOf(worker.name),
    }));
  }

  /** Returns a unique name: `worker-0`, and `worker-0 (cluster 2)` if an earlier source has a worker of this name. */
  #nameOf(name: string): string {
    return getOrMake(this.#names, name, () => {
      const unique = this.#joined.names.has(name) ? `${name} (cluster ${this.#number})` : name;
      this.#joined.names.add(unique);
      return unique;
    });
  }
}
