// The local schedulers as a source of a trace: a callback that tells an observer of clusters of every run that it sees. A
// local scheduler says which task ran where and when, and when it was sent there; what it does not measure (sizes) is NaN.
import { hostname } from 'node:os';
import { TaskError } from '../base/errors.js';
import { keySplit } from '../graph/key.js';
import {
  type ClusterObserver,
  type Computation,
  TASK_ERRED,
  TASK_MEMORY,
  type TaskRuns,
} from '../protocol/clusterObserver.js';
import type { CompletedTasks, RunInfo, RunObserver } from '../protocol/runObserver.js';
import { epochSeconds } from '../resources/clock.js';
import { OBSERVERS, ProgramCallback } from './callback.js';
import { LocalResources } from './localResources.js';

/** What computations of local schedulers name as their client. */
const CLIENT = 'local';
const DEFAULT_SPANS = [['default']] as const;
const NO_TYPE = [''] as const;

/**
 * Tells `observer` of the runs in which it is active, each as a computation; from the first on also of what the machine and
 * the workers use.
 */
export class LocalRuns extends ProgramCallback {
  readonly #observer: ClusterObserver;
  readonly #resources: LocalResources;
  /** Name of a worker → its index. Workers stay from one run to the next. */
  readonly #workers = new Map<string, number>();
  #computations = 0;
  #nextId = 0;

  constructor(observer: ClusterObserver) {
    super();
    this.#observer = observer;
    this.#resources = new LocalResources(
      (name) => this.#indexOf(name),
      (sample) => observer.resources?.(sample),
    );
  }

  override unregister(): void {
    this.#resources.stop();
    super.unregister();
  }

  override [OBSERVERS](): RunObserver[] {
    let told: ToldRun | undefined;
    return [
      {
        runStarted: (run) => {
          const computation = computationOf(run, ++this.#computations, this.#nextId);
          this.#nextId += run.size;
          this.#resources.follow(run);
          told = new ToldRun(this.#observer, computation, run, (name) => this.#indexOf(name));
        },
        completed: (tasks) => told?.completed(tasks),
        runFinished: (run, error) => {
          told?.finished(error);
          told = undefined;
          this.#resources.forget(run);
        },
      },
    ];
  }

  #indexOf(name: string): number {
    let index = this.#workers.get(name);
    if (index === undefined) {
      index = this.#workers.size;
      this.#workers.set(name, index);
      this.#observer.workerAdded?.({
        index,
        name,
        address: '',
        host: hostname(),
        // A run does not tell those of processes.
        pid: name.startsWith('processes') ? 0 : process.pid,
        threads: 1,
        memoryLimit: 0,
        startTime: epochSeconds(),
      });
    }
    return index;
  }
}

/** One run: when each of its tasks could have started is worked out from when the others stopped. */
class ToldRun {
  readonly #observer: ClusterObserver;
  readonly #computation: Computation;
  readonly #indexOf: (name: string) => number;
  readonly #names: readonly string[];
  readonly #stopped: Float64Array;

  constructor(
    observer: ClusterObserver,
    computation: Computation,
    run: RunInfo,
    indexOf: (name: string) => number,
  ) {
    this.#observer = observer;
    this.#computation = computation;
    this.#indexOf = indexOf;
    this.#names = run.workers;
    this.#stopped = new Float64Array(run.size).fill(Number.NaN);
    observer.computationAdded?.(computation);
  }

  completed(tasks: CompletedTasks): void {
    const { worker, count, ids, dispatchTimes, receiveTimes, startTimes, stopTimes } = tasks;
    const ready = new Float64Array(count);
    const dispatched = new Float64Array(count);
    const received = new Float64Array(count);
    const { submitted } = this.#computation;
    for (let i = 0; i < count; i++) {
      const id = ids[i]!;
      const started = startTimes[i]!;
      this.#stopped[id] = stopTimes[i]!;
      // Isolates read clocks of their own, which differ by microseconds. A task that is sent together with what it
      // needs could be sent at that moment.
      dispatched[i] = Math.min(Math.max(dispatchTimes[i]!, submitted), started);
      received[i] = Math.min(Math.max(receiveTimes[i]!, dispatched[i]!), started);
      ready[i] = Math.min(this.#readyAt(id), dispatched[i]!);
    }
    this.#tell(this.#names[worker] ?? String(worker), {
      count,
      ids,
      states: new Uint8Array(count).fill(TASK_MEMORY),
      ready,
      dispatched,
      received,
      started: startTimes,
      stopped: stopTimes,
    });
  }

  finished(error: unknown): void {
    if (error instanceof TaskError) this.#failed(error);
    this.#observer.computationForgotten?.(this.#computation);
  }

  /** The run tells which task has failed and where, and not when. */
  #failed({ key, worker }: TaskError): void {
    const id = this.#computation.keys.indexOf(key);
    if (id < 0) return;
    const unknown = Float64Array.of(Number.NaN);
    this.#tell(worker, {
      count: 1,
      ids: Int32Array.of(id),
      states: Uint8Array.of(TASK_ERRED),
      ready: Float64Array.of(this.#readyAt(id)),
      dispatched: unknown,
      received: unknown,
      started: unknown,
      stopped: unknown,
    });
  }

  #readyAt(id: number): number {
    const { dependencyOffsets, dependencies, submitted } = this.#computation;
    let ready = submitted;
    for (let edge = dependencyOffsets[id]!; edge < dependencyOffsets[id + 1]!; edge++) {
      const stopped = this.#stopped[dependencies[edge]!]!;
      if (stopped > ready) ready = stopped;
    }
    return ready;
  }

  #tell(
    worker: string,
    runs: Pick<
      TaskRuns,
      'count' | 'ids' | 'states' | 'ready' | 'dispatched' | 'received' | 'started' | 'stopped'
    >,
  ): void {
    const unknown = new Float64Array(runs.count).fill(Number.NaN);
    this.#observer.tasksEnded?.({
      ...runs,
      computation: this.#computation,
      worker: this.#indexOf(worker),
      types: new Uint16Array(runs.count),
      typeNames: NO_TYPE,
      nbytes: unknown,
      attempts: new Uint8Array(runs.count).fill(1),
      acknowledged: epochSeconds(),
    });
  }
}

function computationOf(run: RunInfo, number: number, firstId: number): Computation {
  const prefixes = numbered(run.keys, keySplit);
  const functions = numbered(run.keys, (_key, id) => run.functionName(id));
  return {
    number,
    firstId,
    size: run.size,
    keys: run.keys,
    prefixOf: prefixes.of,
    prefixes: prefixes.texts,
    functionOf: functions.of,
    functions: functions.texts,
    spanOf: null,
    spans: DEFAULT_SPANS,
    dependencyOffsets: run.dependencyOffsets,
    dependencies: run.dependencies,
    externals: new Float64Array(0),
    submitted: epochSeconds(),
    client: CLIENT,
    code: '',
  };
}

/** A text for each key: the distinct ones, and which of them each key has. */
function numbered(
  keys: readonly string[],
  textOf: (key: string, id: number) => string,
): { readonly of: Int32Array; readonly texts: readonly string[] } {
  const numbers = new Map<string, number>();
  const of = Int32Array.from(keys, (key, id) => {
    const text = textOf(key, id);
    const number = numbers.get(text) ?? numbers.size;
    numbers.set(text, number);
    return number;
  });
  return { of, texts: [...numbers.keys()] };
}
