// Several sources of events as one: each cluster of a program, and its local schedulers, number their workers, computations
// and tasks from 0. Here they get numbers of their own, so that an observer may watch all of them.
import { getOrMake } from '../base/lookUps.js';
import { recordOf } from '../base/recordOf.js';
import type {
  ClusterEvent,
  ClusterObserver,
  Computation,
  MemorySample,
  MetricSample,
  ResourceSample,
  TaskRuns,
  Transfer,
  WorkerInfo,
  WorkInterval,
} from '../protocol/clusterObserver.js';
import type { ProfileCycle } from '../protocol/profileCycle.js';
import type { KindOf } from '../protocol/taskKinds.js';
import { fileColumns, RECORDED_TABLES, type RecordedTable } from '../protocol/traceSchema.js';

/** Ids of the tasks of source `n` begin at n times this. They stay exact in float64 for 8,192 sources. */
const IDS_PER_SOURCE = 2 ** 40;

/** The columns that name workers or tasks. */
const REFERENCES = recordOf(RECORDED_TABLES, (table) =>
  fileColumns(table).filter(({ kind }) => kind === 'worker' || kind === 'task'),
);

/** What the sources have in common. */
interface Joined {
  readonly observers: readonly ClusterObserver[];
  workers: number;
  computations: number;
  /** Names of workers, with the number of sources that have one of this name. */
  readonly names: Map<string, number>;
}

/** Hands on what its sources tell to some observers, as if it were one cluster. */
export class JoinedSources {
  readonly #joined: Joined;
  #sources = 0;

  constructor(observers: readonly ClusterObserver[]) {
    this.#joined = { observers, workers: 0, computations: 0, names: new Map() };
  }

  /** The observer for one more source. */
  add(): ClusterObserver {
    return new Source(this.#joined, this.#sources++);
  }
}

class Source implements ClusterObserver {
  readonly #joined: Joined;
  readonly #names = new Map<string, string>();
  readonly #firstId: number;
  readonly #workers = new Map<number, WorkerInfo>();
  readonly #computations = new WeakMap<Computation, Computation>();

  constructor(joined: Joined, number: number) {
    this.#joined = joined;
    this.#firstId = number * IDS_PER_SOURCE;
  }

  computationAdded(computation: Computation): void {
    const joined = this.#computation(computation);
    this.#tell((observer) => observer.computationAdded?.(joined));
  }

  computationForgotten(computation: Computation): void {
    const joined = this.#computation(computation);
    this.#tell((observer) => observer.computationForgotten?.(joined));
  }

  tasksEnded(runs: TaskRuns): void {
    const computation = this.#computation(runs.computation);
    const joined = { ...runs, computation, worker: this.#index(runs.worker) };
    this.#tell((observer) => observer.tasksEnded?.(joined));
  }

  workerAdded(worker: WorkerInfo): void {
    // Each run of a local scheduler names its workers.
    if (this.#workers.has(worker.index)) return;
    const joined = this.#worker(worker);
    this.#tell((observer) => observer.workerAdded?.(joined));
  }

  workerRemoved(worker: WorkerInfo, time: number, reason: string): void {
    const joined = this.#worker(worker);
    this.#tell((observer) => observer.workerRemoved?.(joined, time, reason));
  }

  interval(interval: WorkInterval): void {
    const joined = this.#row('intervals', interval);
    this.#tell((observer) => observer.interval?.(joined));
  }

  transfer(transfer: Transfer): void {
    const joined = this.#row('transfers', transfer);
    this.#tell((observer) => observer.transfer?.(joined));
  }

  memory(sample: MemorySample): void {
    const joined = this.#row('memory', sample);
    this.#tell((observer) => observer.memory?.(joined));
  }

  resources(sample: ResourceSample): void {
    const joined = this.#row('resources', sample);
    this.#tell((observer) => observer.resources?.(joined));
  }

  metric(sample: MetricSample): void {
    const joined = this.#row('metrics', sample);
    this.#tell((observer) => observer.metric?.(joined));
  }

  profile(worker: number, cycle: ProfileCycle, kindOf: KindOf): void {
    const tasks = cycle.tasks.map((task) => (task < 0 ? -1 : task + this.#firstId));
    const [index, joined] = [this.#index(worker), { ...cycle, tasks }];
    this.#tell((observer) => observer.profile?.(index, joined, (task) => kindOf(task - this.#firstId)));
  }

  event(event: ClusterEvent): void {
    const joined = this.#row('events', event);
    this.#tell((observer) => observer.event?.(joined));
  }

  /** A row in which workers and tasks have their joined numbers. */
  #row<R extends object>(table: RecordedTable, row: R): R {
    const numbers = REFERENCES[table].map(({ name, kind }): [string, number] => {
      const value: unknown = Reflect.get(row, name);
      if (typeof value !== 'number' || value < 0) return [name, -1];
      return [name, kind === 'worker' ? this.#index(value) : value + this.#firstId];
    });
    return { ...row, ...Object.fromEntries(numbers) };
  }

  #tell(call: (observer: ClusterObserver) => void): void {
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

  /** -1, the client's or the scheduler's, and workers that nobody has told of stay what they are. */
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

  /** `threads-0`; in the second source that has one of this name `threads-0 (2)`. */
  #nameOf(name: string): string {
    let joined = this.#names.get(name);
    if (joined === undefined) {
      const count = (this.#joined.names.get(name) ?? 0) + 1;
      this.#joined.names.set(name, count);
      joined = count === 1 ? name : `${name} (${count})`;
      this.#names.set(name, joined);
    }
    return joined;
  }
}
