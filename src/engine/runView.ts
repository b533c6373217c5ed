// The view of a run that observers receive: the plan, the scheduler's state under Dask's names, and the caller's
// results. Nothing is built before it is read.
import { hostname } from 'node:os';
import { isPlainObject } from '../base/builtIns.js';
import { LazyMap, LazySet } from '../base/lazyCollections.js';
import { getOrMake, once } from '../base/lookUps.js';
import { INSPECT, type Inspect, type InspectOptions } from '../base/printed.js';
import type { AnyFunction } from '../graph/callable.js';
import type { Plan } from '../graph/compile.js';
import { functionName } from '../graph/functionName.js';
import { LOCAL_CLIENT } from '../protocol/clientNames.js';
import type { Computation } from '../protocol/clusterObserver.js';
import type { Graph } from '../protocol/graph.js';
import type { RunInfo, RunStanding, RunState, RunWorker } from '../protocol/runObserver.js';
import type { RunTask } from '../protocol/workerMessages.js';
import { epochSeconds } from '../resources/clock.js';
import { computationInfo } from './computationInfo.js';
import { lazyPrefixes } from './prefixTable.js';
import { CALLER } from './scheduler/schedulerColumns.js';
import type { SchedulerState } from './scheduler/schedulerState.js';
import { FORGOTTEN, MEMORY, PROCESSING, QUEUED, STATE_NAMES, WAITING } from './scheduler/taskStates.js';

const NO_IMPORTS = new Map<number, never>();

let computations = 0;
let nextId = 0;

/** A place that runs tasks: an isolate or the caller's thread. */
export interface Place extends Pick<RunWorker, 'name' | 'pid' | 'vitals'> {
  /** The task that was last known to run there. */
  readonly executing?: RunTask | undefined;
}

const workers = new WeakMap<Place, RunWorker>();
let nextWorker = 0;

export class RunView implements RunInfo {
  readonly graph: Graph;
  readonly dependentOffsets: Int32Array;
  readonly dependents: Int32Array;
  readonly requested: Uint8Array;
  readonly workers = new Map<number, RunWorker>();
  /** Ids of tasks that were reported to observers as started and not yet as finished. */
  readonly running = new Set<number>();
  readonly state: RunState;
  readonly #plan: Plan;
  readonly #scheduler: SchedulerState;
  readonly #run: number;
  readonly #places = new Map<number, Place>();
  #computation: Computation | undefined;

  /**
   * @param resultOf returns the caller's result of a task
   * @param run number under which the isolates know this run. Default: -1, for a run on the caller's thread
   */
  constructor(
    graph: Graph,
    plan: Plan,
    scheduler: SchedulerState,
    resultOf: (id: number) => unknown,
    run = -1,
  ) {
    this.graph = graph;
    this.#run = run;
    this.#plan = plan;
    this.#scheduler = scheduler;
    this.dependentOffsets = plan.dependents.offsets;
    this.dependents = plan.dependents.targets;
    this.requested = plan.requested;
    this.state = new LazyRunState(plan, scheduler, this.running, resultOf);
  }

  get finishedCount(): number {
    return this.#scheduler.finishedCount;
  }

  get standing(): RunStanding {
    const { counts, workers: known } = this.#scheduler;
    const running = new Map<number, number>();
    for (const [index, { executing }] of this.#places)
      if (executing?.run === this.#run) running.set(index, executing.id);
    return {
      states: Object.fromEntries(STATE_NAMES.map((name, state) => [name, counts[state]!])),
      processing: new Map(Array.from(known, ([index, { outstanding }]) => [index, outstanding])),
      running,
    };
  }

  /** Description of the computation, made on first use, so that a run without observers has no cost. */
  get computation(): Computation {
    this.#computation ??= this.#describe();
    return this.#computation;
  }

  addWorker(place: Place): RunWorker {
    const { name, pid, vitals } = place;
    const worker = getOrMake(workers, place, () => ({
      index: nextWorker++,
      name,
      address: '',
      host: hostname(),
      pid,
      threads: 1,
      memoryLimit: 0,
      startTime: epochSeconds(),
      ...(vitals === undefined ? {} : { vitals }),
    }));
    this.workers.set(worker.index, worker);
    this.#places.set(worker.index, place);
    return worker;
  }

  #describe(): Computation {
    const plan = this.#plan;
    const { spans, called } = plan;
    const firstId = nextId;
    nextId += plan.program.size;
    return computationInfo(
      { plan, client: LOCAL_CLIENT, spans, called },
      {
        number: ++computations,
        firstId,
        prefixes: lazyPrefixes(plan.keys),
        imports: NO_IMPORTS,
        submitted: epochSeconds(),
      },
    );
  }
}

/** The names of tasks, by task id. `functions` holds functions in a Plan, and names in a Computation. */
export interface TaskNames {
  readonly keys: readonly string[];
  readonly functionOf: Int32Array;
  readonly functions: readonly (AnyFunction | string)[];
  /** Line of the program that computes the tasks; empty or absent if unknown. */
  readonly code?: string;
}

/** Returns the name of the function that a task calls; `alias` for an alias or a list of results. */
export function taskFunctionName({ functions, functionOf }: TaskNames, id: number): string {
  const fn = functions[functionOf[id]!];
  if (fn === undefined) return 'alias';
  return typeof fn === 'string' ? fn : functionName(fn);
}

class LazyRunState implements RunState {
  readonly dependencies: ReadonlyMap<string, ReadonlySet<string>>;
  readonly dependents: ReadonlyMap<string, ReadonlySet<string>>;
  readonly waiting: ReadonlyMap<string, ReadonlySet<string>>;
  readonly waitingData: ReadonlyMap<string, ReadonlySet<string>>;
  readonly cache: ReadonlyMap<string, unknown>;
  declare readonly ready: RunState['ready'];
  readonly running: ReadonlySet<string>;
  readonly finished: ReadonlySet<string>;
  readonly released: ReadonlySet<string>;
  readonly #plan: Plan;
  readonly #scheduler: SchedulerState;
  readonly #running: ReadonlySet<number>;

  constructor(
    plan: Plan,
    scheduler: SchedulerState,
    running: ReadonlySet<number>,
    resultOf: (id: number) => unknown,
  ) {
    this.#plan = plan;
    this.#scheduler = scheduler;
    this.#running = running;
    const { data } = plan;
    const isFinished = (id: number): boolean => scheduler.isFinished(id);
    this.dependencies = this.#map(
      () => true,
      (id) => new Set([...this.#keys(plan.dependencies, id, () => true), ...dataKeysOf(plan, id)]),
      () => new Set(),
    );
    this.dependents = this.#map(
      () => true,
      (id) => this.#keys(plan.dependents, id, () => true),
      (key) => this.#usersOfData().get(key) ?? new Set(),
    );
    this.waiting = this.#map(
      (id) => this.#isWaiting(id),
      (id) => this.#keys(plan.dependencies, id, (other) => !isFinished(other)),
    );
    this.waitingData = this.#map(
      (id) => scheduler.needs[id]! > 0 || plan.requested[id] === 1,
      (id) => this.#keys(plan.dependents, id, (other) => !isFinished(other)),
      (key) => this.#unfinishedUsers(key),
    );
    const inCache = (id: number): boolean =>
      scheduler.state[id] === MEMORY && scheduler.location[id] === CALLER;
    this.cache = this.#map(inCache, resultOf, (key) => data.get(key));
    // A property of the object itself, as the others, so that it is listed and copied with them.
    Object.defineProperty(this, 'ready', { enumerable: true, get: () => this.#ready() });
    this.running = this.#set(
      () => running.size,
      (id) => running.has(id),
    );
    this.finished = this.#set(() => scheduler.finishedCount, isFinished);
    this.released = this.#set(
      () => scheduler.counts[FORGOTTEN]!,
      (id) => scheduler.state[id] === FORGOTTEN,
    );
  }

  #ready(): RunState['ready'] {
    const keys = this.#plan.keys.filter((_key, id) => this.#isReady(id));
    return Object.defineProperty(Object.assign(keys, { size: keys.length }), 'size', { enumerable: false });
  }

  [INSPECT](_depth: number, options: InspectOptions, inspect: Inspect): string {
    return `RunState ${inspect({ ...this }, options)}`;
  }

  #isReady(id: number): boolean {
    const at = this.#scheduler.state[id];
    if (at === QUEUED) return true;
    return at === PROCESSING && this.#scheduler.waiting[id] === 0 && !this.#running.has(id);
  }

  #isWaiting(id: number): boolean {
    const at = this.#scheduler.state[id];
    if (at === WAITING) return true;
    return at === PROCESSING && this.#scheduler.waiting[id]! > 0 && !this.#running.has(id);
  }

  /** Returns a map over the tasks that satisfy `includes` and, with `ofData`, over the data keys. */
  #map<V>(
    includes: (id: number) => boolean,
    ofTask: (id: number) => V,
    ofData?: (key: string) => V,
  ): ReadonlyMap<string, V> {
    const { ids, keys, data } = this.#plan;
    const has = (key: string): boolean => {
      const id = ids.get(key);
      return id === undefined ? ofData !== undefined && data.has(key) : includes(id);
    };
    return new LazyMap<string, V>({
      has,
      get: (key) => {
        const id = ids.get(key);
        // A key without a task is a data key, because `has` accepted it.
        return id === undefined && ofData !== undefined ? ofData(key) : ofTask(id ?? -1);
      },
      size: () => keys.filter((_key, id) => includes(id)).length + (ofData === undefined ? 0 : data.size),
      *keys() {
        if (ofData !== undefined) yield* data.keys();
        for (let id = 0; id < keys.length; id++) if (includes(id)) yield keys[id]!;
      },
    });
  }

  #set(size: () => number, includes: (id: number) => boolean): ReadonlySet<string> {
    const { ids, keys } = this.#plan;
    return new LazySet<string>({
      size,
      has: (key) => {
        const id = ids.get(key);
        return id !== undefined && includes(id);
      },
      *values() {
        for (let id = 0; id < keys.length; id++) if (includes(id)) yield keys[id]!;
      },
    });
  }

  #keys(
    edges: { offsets: Int32Array; targets: Int32Array },
    id: number,
    includes: (id: number) => boolean,
  ): Set<string> {
    const others = edges.targets.subarray(edges.offsets[id], edges.offsets[id + 1]).filter(includes);
    return new Set(Array.from(others, (other) => this.#plan.keys[other]!));
  }

  readonly #usersOfData = once((): ReadonlyMap<string, ReadonlySet<string>> => {
    const users = new Map<string, Set<string>>();
    for (let id = 0; id < this.#plan.keys.length; id++) {
      for (const key of dataKeysOf(this.#plan, id))
        getOrMake(users, key, () => new Set()).add(this.#plan.keys[id]!);
    }
    return users;
  });

  #unfinishedUsers(key: string): ReadonlySet<string> {
    const users = this.#usersOfData().get(key) ?? new Set<string>();
    return new Set([...users].filter((user) => !this.finished.has(user)));
  }
}

/** Returns the data keys in a task's definition. The program has their values instead. */
function dataKeysOf(plan: Plan, id: number): Set<string> {
  const found = new Set<string>();
  if (plan.data.size > 0) collectDataKeys(plan, plan.sourceOf(id), found);
  return found;
}

function collectDataKeys(plan: Plan, value: unknown, found: Set<string>): void {
  if (typeof value === 'string' && plan.data.has(value)) found.add(value);
  else if (Array.isArray(value)) for (const part of value) collectDataKeys(plan, part, found);
  else if (typeof value === 'object' && value !== null && isPlainObject(value))
    for (const part of Object.values(value)) collectDataKeys(plan, part, found);
}
