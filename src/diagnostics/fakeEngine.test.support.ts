// An engine for the unit tests of this folder. It follows the protocol of RunObserver on one thread, with an artificial
// clock.
import { type Computation, TASK_MEMORY, type TaskRuns } from '../protocol/clusterObserver.js';
import type { Graph } from '../protocol/graph.js';
import type { RunInfo, RunObserver, RunStanding, RunState, RunWorker } from '../protocol/runObserver.js';
import { type CallbackLike, callbacksForRun, observersOf } from './callbackObservers.js';

export interface FakeOptions {
  readonly callbacks?: CallbackLike | readonly CallbackLike[] | undefined;
  /** Tasks per batch. Batches run on the workers in turn. Default 3. */
  readonly batch?: number | undefined;
  /** Number of workers; default 2. */
  readonly workers?: number | undefined;
  /** Seconds since the epoch at which the first task starts; each takes one second. Default: 1000 s before now. */
  readonly startTime?: number | undefined;
}

type Fn = (...args: unknown[]) => unknown;

interface Plan {
  readonly keys: readonly string[];
  readonly tasks: ReadonlyMap<string, readonly unknown[]>;
  readonly needs: ReadonlyMap<string, ReadonlySet<string>>;
}

const lookUp = (graph: Graph, key: string): unknown =>
  graph instanceof Map ? graph.get(key) : new Map(Object.entries(graph)).get(key);
const keysOf = (graph: Graph): string[] => (graph instanceof Map ? [...graph.keys()] : Object.keys(graph));
const isFn = (value: unknown): value is Fn => typeof value === 'function';

function plan(graph: Graph, wanted: readonly string[]): Plan {
  const all = new Set(keysOf(graph));
  const tasks = new Map<string, readonly unknown[]>();
  const needs = new Map<string, ReadonlySet<string>>();
  const visit = (key: string): void => {
    if (needs.has(key)) return;
    const value = lookUp(graph, key);
    const isTask = Array.isArray(value) && isFn(value[0]);
    const own = isTask ? value.filter((part) => typeof part === 'string' && all.has(part)) : [];
    needs.set(key, new Set(own));
    for (const need of own) visit(need);
    if (isTask) tasks.set(key, value);
  };
  for (const key of wanted) visit(key);
  return { keys: [...tasks.keys()], tasks, needs };
}

/** A run in progress. */
class FakeRun implements RunInfo {
  readonly keys: readonly string[];
  readonly computation: Computation;
  readonly dependentOffsets: Int32Array;
  readonly dependents: Int32Array;
  readonly requested: Uint8Array;
  readonly workers: ReadonlyMap<number, RunWorker>;
  readonly running = new Set<string>();
  readonly finished = new Set<string>();
  readonly cache = new Map<string, unknown>();
  readonly state: RunState;
  readonly graph: Graph;
  readonly plan: Plan;

  constructor(graph: Graph, wanted: readonly string[], workers: number) {
    this.graph = graph;
    this.plan = plan(graph, wanted);
    this.keys = this.plan.keys;
    this.workers = new Map(Array.from({ length: workers }, (_, i) => [i, fakeWorker(i)]));
    this.requested = Uint8Array.from(this.keys, (key) => Number(wanted.includes(key)));
    const needs = this.keys.map((key) => this.#ids(this.plan.needs.get(key) ?? new Set()));
    const needed = this.keys.map((_, id) => needs.flatMap((ids, by) => (ids.includes(id) ? [by] : [])));
    this.computation = computationOf(this.keys, needs);
    [this.dependentOffsets, this.dependents] = rows(needed);
    for (const [key] of this.plan.needs)
      if (!this.plan.tasks.has(key)) this.cache.set(key, lookUp(graph, key));
    const { running, finished, cache } = this;
    const empty = new Map<string, ReadonlySet<string>>();
    const dependents = new Map(
      this.keys.map((key, id) => [key, new Set(needed[id]!.map((by) => this.keys[by]!))]),
    );
    const ready = Object.assign([], { size: 0 });
    const released = new Set<string>();
    this.state = {
      dependencies: this.plan.needs,
      dependents,
      waiting: empty,
      waitingData: empty,
      cache,
      ready,
      running,
      finished,
      released,
    };
  }

  #ids(keys: ReadonlySet<string>): number[] {
    return [...keys].map((key) => this.keys.indexOf(key)).filter((id) => id >= 0);
  }

  get finishedCount(): number {
    return this.finished.size;
  }

  get standing(): RunStanding {
    return { states: { memory: this.finished.size }, processing: new Map(), running: new Map() };
  }

  compute(id: number): unknown {
    const [fn, ...args] = this.plan.tasks.get(this.keys[id]!) ?? [];
    if (!isFn(fn)) throw new Error(`${this.keys[id]} is not a task`);
    return fn(
      ...args.map((part) => (typeof part === 'string' && this.cache.has(part) ? this.cache.get(part) : part)),
    );
  }
}

function fakeWorker(index: number): RunWorker {
  const name = `fake-${index}`;
  return { index, name, address: '', host: '', pid: 0, threads: 1, memoryLimit: 0, startTime: 0 };
}

let computations = 0;

function computationOf(keys: readonly string[], needs: readonly (readonly number[])[]): Computation {
  const size = keys.length;
  const [dependencyOffsets, dependencies] = rows(needs);
  return {
    number: ++computations,
    firstId: 0,
    size,
    keys,
    prefixOf: new Int32Array(size),
    prefixes: ['fake'],
    functionOf: new Int32Array(size),
    functions: ['fake'],
    spanOf: null,
    spans: [['default']],
    dependencyOffsets,
    dependencies,
    externals: new Float64Array(0),
    submitted: Date.now() / 1000,
    client: 'local',
    code: '',
  };
}

function rows(lists: readonly (readonly number[])[]): [Int32Array, Int32Array] {
  const offsets = new Int32Array(lists.length + 1);
  lists.forEach((list, i) => {
    offsets[i + 1] = offsets[i]! + list.length;
  });
  return [offsets, Int32Array.from(lists.flat())];
}

/** Runs the graph with the active and the given callbacks. Returns the value of each key. */
export function fakeGet(
  graph: Graph,
  keys: string | readonly string[],
  options: FakeOptions = {},
): unknown[] {
  const observers = observersOf(callbacksForRun(options.callbacks));
  return runObserved(graph, typeof keys === 'string' ? [keys] : keys, observers, options);
}

/** Runs the graph. Every observer that received runStarted also receives runFinished, even if observers throw. */
function runObserved(
  graph: Graph,
  wanted: readonly string[],
  observers: readonly RunObserver[],
  options: FakeOptions = {},
): unknown[] {
  const run = new FakeRun(graph, wanted, options.workers ?? 2);
  const begun: RunObserver[] = [];
  let failure: { error: unknown } | undefined;
  try {
    for (const observer of observers) {
      begun.push(observer);
      observer.runStarted?.(run);
      observer.computationAdded?.(run.computation);
    }
    for (const observer of observers) observer.stateReady?.(run);
    runTasks(run, observers, options);
  } catch (error) {
    failure = { error };
  }
  const outcome = failure?.error;
  for (const observer of begun) {
    try {
      observer.runFinished?.(run, outcome);
      observer.computationForgotten?.(run.computation);
    } catch (error) {
      failure ??= { error };
    }
  }
  if (failure) throw failure.error;
  return wanted.map((key) => run.cache.get(key));
}

function runTasks(run: FakeRun, observers: readonly RunObserver[], options: FakeOptions): void {
  const size = options.batch ?? 3;
  // The columns are reused for every batch, as the protocol allows.
  const columns = {
    ids: new Int32Array(size),
    states: new Uint8Array(size).fill(TASK_MEMORY),
    types: new Uint16Array(size),
    typeNames: ['number'],
    nbytes: new Float64Array(size),
    attempts: new Uint8Array(size).fill(1),
    ready: new Float64Array(size),
    dispatched: new Float64Array(size),
    received: new Float64Array(size),
    started: new Float64Array(size),
    stopped: new Float64Array(size),
  };
  let clock = options.startTime ?? Math.floor(Date.now() / 1000) - 1000;
  let count = 0;
  let worker = 0;
  const flush = (): void => {
    if (count === 0) return;
    const batch: TaskRuns = { ...columns, computation: run.computation, worker, count, acknowledged: clock };
    for (const observer of observers) observer.tasksEnded?.(batch);
    for (const observer of observers) observer.progress?.(run);
    count = 0;
    worker = (worker + 1) % run.workers.size;
  };
  try {
    for (let id = 0; id < run.keys.length; id++) {
      const key = run.keys[id]!;
      run.running.add(key);
      for (const observer of observers) if (observer.perTask) observer.taskStarted?.(id, run);
      const value = run.compute(id);
      run.running.delete(key);
      run.finished.add(key);
      run.cache.set(key, value);
      columns.ids[count] = id;
      columns.ready[count] = clock;
      columns.dispatched[count] = clock;
      columns.received[count] = clock;
      columns.started[count] = clock;
      columns.stopped[count++] = ++clock;
      const shown = observers.some((observer) => observer.results) ? value : undefined;
      for (const observer of observers) {
        if (observer.perTask) observer.taskFinished?.(id, shown, worker, clock - 1, clock, run);
      }
      if (count === size) flush();
    }
  } finally {
    flush();
  }
}
