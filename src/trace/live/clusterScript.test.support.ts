// Simulates a cluster for tests of observers: computations with dependencies, runs that end in all states, and all
// other events. The same seed gives the same events.
import {
  ACTIONS,
  type ClusterObserver,
  type Computation,
  type ProfileCycle,
  STACK_IDLE,
  STACK_RUNTIME,
  TASK_CANCELLED,
  TASK_ERRED,
  TASK_LOST,
  TASK_MEMORY,
  type TaskRuns,
  type WorkerInfo,
} from '../../protocol/clusterObserver.js';

/** Unit of times; its multiples are exact in seconds since the epoch. */
const TICK = 2 ** -22;
const START = 1_790_000_000;

export interface ScriptOptions {
  readonly seed: number;
  /** Number of tasks of each computation. */
  readonly sizes: readonly number[];
  readonly workers?: number;
  /** Limit for the rows of a batch of runs. */
  readonly batch?: number;
  /** Keys are tuples, like those of collections. */
  readonly tuples?: boolean;
}

/** Everything that the observer received, in full. */
export interface PlayedScript {
  readonly computations: Computation[];
  readonly runs: (Omit<TaskRuns, 'computation'> & { readonly computation: Computation })[];
  readonly workers: WorkerInfo[];
  readonly counts: {
    intervals: number;
    transfers: number;
    memory: number;
    resources: number;
    metrics: number;
    samples: number;
    events: number;
  };
}

/**
 * Reports the events of a script to `observer` and returns them. A computation is forgotten when three newer ones
 * exist.
 */
export function playScript(observer: ClusterObserver, options: ScriptOptions): PlayedScript {
  return new Script(observer, options).run();
}

class Script {
  readonly #observer: ClusterObserver;
  readonly #options: Required<ScriptOptions>;
  readonly #played: PlayedScript = {
    computations: [],
    runs: [],
    workers: [],
    counts: { intervals: 0, transfers: 0, memory: 0, resources: 0, metrics: 0, samples: 0, events: 0 },
  };
  readonly #typeNames = ['number', 'Float64Array', 'Größe', ''];
  #state: number;
  #time = START;
  #nextId = 1000;

  constructor(observer: ClusterObserver, options: ScriptOptions) {
    this.#observer = observer;
    this.#options = { workers: 2, batch: 32, tuples: false, ...options };
    this.#state = options.seed | 1;
  }

  run(): PlayedScript {
    const { workers, sizes } = this.#options;
    for (let index = 0; index < workers; index++) this.#addWorker(index);
    for (const size of sizes) {
      const computation = this.#computation(size);
      this.#played.computations.push(computation);
      this.#observer.computationAdded?.(computation);
      this.#runAll(computation);
      this.#reportRest(computation);
      const old = this.#played.computations.at(-4);
      if (old !== undefined) this.#observer.computationForgotten?.(old);
    }
    const last = this.#played.workers.at(-1);
    if (last !== undefined) this.#observer.workerRemoved?.(last, this.#tick(), 'closed "early"');
    return this.#played;
  }

  /** Returns an integer below `below`. */
  #random(below: number): number {
    this.#state = (Math.imul(this.#state, 1103515245) + 12345) & 0x7fffffff;
    return Math.floor((this.#state / 0x80000000) * below);
  }

  /** Returns the next time. */
  #tick(): number {
    this.#time += (1 + this.#random(40)) * TICK;
    return this.#time;
  }

  #addWorker(index: number): void {
    const worker: WorkerInfo = {
      index,
      name: `threads-${index}`,
      address: `thread://4711/threads-${index}`,
      host: 'höst',
      pid: 4711,
      threads: 1,
      memoryLimit: 2 ** 31,
      startTime: this.#tick(),
    };
    this.#played.workers.push(worker);
    this.#observer.workerAdded?.(worker);
  }

  #computation(size: number): Computation {
    const number = this.#played.computations.length + 1;
    const previous = this.#played.computations.at(-1);
    const prefixOf = Int32Array.from({ length: size }, () => this.#random(3));
    const prefixes = ['load', 'sum', 'größe'];
    const dependencies: number[] = [];
    const dependencyOffsets = new Int32Array(size + 1);
    const externals: number[] = [];
    for (let id = 0; id < size; id++) {
      for (let n = this.#random(3); n > 0; n--) {
        if (id > 0 && this.#random(4) > 0) dependencies.push(this.#random(id));
        else if (previous !== undefined)
          dependencies.push(size + externals.push(previous.firstId + this.#random(previous.size)) - 1);
      }
      dependencyOffsets[id + 1] = dependencies.length;
    }
    const firstId = this.#nextId;
    this.#nextId += size;
    return {
      number,
      firstId,
      size,
      keys: Array.from(prefixOf, (prefix, id) =>
        this.#options.tuples
          ? `('${prefixes[prefix]}-${number}', ${id})`
          : `${prefixes[prefix]}-${number}-${id}`,
      ),
      prefixOf,
      prefixes,
      functionOf: prefixOf.map((prefix) => prefix - 1),
      functions: ['add', 'größe'],
      spanOf: number % 2 === 0 ? null : Int32Array.from({ length: size }, () => this.#random(2)),
      spans: [['default'], ['Alice', 'load']],
      dependencyOffsets,
      dependencies: Int32Array.from(dependencies),
      externals: Float64Array.from(externals),
      submitted: this.#tick(),
      client: `client-${number % 2}`,
      code: number % 3 === 0 ? 'total.compute();\n' : '',
    };
  }

  /** Runs every task in order. Some runs are lost and repeated. */
  #runAll(computation: Computation): void {
    const { batch, workers } = this.#options;
    const again: number[] = [];
    for (let from = 0; from < computation.size; ) {
      const to = Math.min(computation.size, from + 1 + this.#random(batch));
      const ids = Array.from({ length: to - from }, (_, i) => from + i);
      this.#report(this.#runs(computation, this.#random(workers), ids, again));
      from = to;
    }
    if (again.length > 0) this.#report(this.#runs(computation, 0, again, undefined));
  }

  #runs(
    computation: Computation,
    worker: number,
    ids: readonly number[],
    again: number[] | undefined,
  ): TaskRuns {
    const count = ids.length;
    const spare = 3;
    const numbers = (): Float64Array => new Float64Array(count + spare);
    const runs = {
      computation,
      worker,
      count,
      ids: Int32Array.from([...ids, 0, 0, 0]),
      states: new Uint8Array(count + spare),
      types: new Uint16Array(count + spare),
      typeNames: this.#typeNames,
      nbytes: numbers(),
      attempts: new Uint8Array(count + spare).fill(again === undefined ? 2 : 1),
      ready: numbers(),
      dispatched: numbers(),
      received: numbers(),
      started: numbers(),
      stopped: numbers(),
      coreWaits: numbers(),
      seceded: numbers(),
      resumed: numbers(),
      waited: numbers(),
      acknowledged: 0,
    };
    const [ready, dispatched, received] = [this.#tick(), this.#tick(), this.#tick()];
    for (const [i, id] of ids.entries()) {
      runs.ready[i] = ready;
      runs.dispatched[i] = dispatched;
      runs.received[i] = received;
      runs.started[i] = this.#tick();
      const secedes = this.#random(4) === 0;
      runs.seceded[i] = secedes ? this.#tick() : Number.NaN;
      runs.resumed[i] = secedes ? this.#tick() : Number.NaN;
      runs.waited[i] = secedes ? runs.resumed[i]! - runs.seceded[i]! : Number.NaN;
      runs.stopped[i] = this.#tick();
      runs.coreWaits[i] = this.#random(2) === 0 ? Number.NaN : this.#random(100) / 1000;
      const luck = again === undefined ? 0 : this.#random(20);
      const state = [TASK_LOST, TASK_ERRED, TASK_CANCELLED][luck - 17] ?? TASK_MEMORY;
      runs.states[i] = state;
      if (state === TASK_MEMORY) {
        runs.types[i] = this.#random(this.#typeNames.length);
        runs.nbytes[i] = this.#random(1000);
      }
      if (state !== TASK_LOST) continue;
      runs.started[i] = Number.NaN;
      runs.stopped[i] = Number.NaN;
      runs.seceded[i] = Number.NaN;
      runs.resumed[i] = Number.NaN;
      runs.waited[i] = Number.NaN;
      again?.push(id);
    }
    return { ...runs, acknowledged: this.#tick() };
  }

  /** Reports runs, then overwrites their arrays, as an engine does. */
  #report(runs: TaskRuns): void {
    this.#played.runs.push(copyOf(runs));
    this.#observer.tasksEnded?.(runs);
    const { ids, states, types, nbytes, attempts, ready, dispatched, received, started, stopped } = runs;
    for (const array of [
      ids,
      states,
      types,
      nbytes,
      attempts,
      ready,
      dispatched,
      received,
      started,
      stopped,
      ...[runs.coreWaits, runs.seceded, runs.resumed, runs.waited].filter((array) => array !== undefined),
    ]) {
      array.fill(77);
    }
  }

  #reportRest(computation: Computation): void {
    const { counts } = this.#played;
    const worker = this.#random(this.#options.workers);
    const peer = (worker + 1) % this.#options.workers;
    for (const action of ACTIONS.slice(1)) {
      const start = this.#tick();
      const task = computation.size === 0 ? -1 : computation.firstId;
      this.#observer.interval?.({ worker, thread: 0, action, start, stop: this.#tick(), task, nbytes: 8 });
      counts.intervals++;
    }
    const start = this.#tick();
    const moved = {
      keys: computation.keys.slice(0, 2),
      nbytes: 100,
      compressed: 60,
      start,
      stop: this.#tick(),
    };
    this.#observer.transfer?.({
      worker,
      peer,
      direction: 'incoming',
      what: 'gather-dep',
      ...moved,
    });
    this.#observer.transfer?.({
      worker: peer,
      peer: worker,
      direction: 'outgoing',
      what: 'get-data',
      ...moved,
    });
    this.#observer.transfer?.({ worker, peer: -1, direction: 'outgoing', what: 'gather', ...moved });
    counts.transfers += 3;
    const time = this.#tick();
    this.#observer.memory?.({
      worker,
      time,
      process: 500,
      managed: 300,
      unmanaged: 200,
      spilled: 7,
      tasks: 3,
    });
    counts.memory++;
    const none = { cpu: Number.NaN, rss: 1e6, heap: 5e5, external: Number.NaN, eventLoopDelay: 0.001 };
    this.#observer.resources?.({ worker: -1, time, ...none, figures: new Map([['num_fds', 20]]) });
    this.#observer.resources?.({ worker, time, ...none, cpu: 98.5 });
    counts.resources += 2;
    const metric = { worker, time, context: 'execute', span: 'Alice/load', prefix: 'load', unit: 'seconds' };
    this.#observer.metric?.({ ...metric, activity: 'thread-cpu', value: 0.25 });
    this.#observer.metric?.({ ...metric, activity: 'I/O', value: 0.5 });
    counts.metrics += 2;
    this.#observer.profile?.(worker, cycleOf(time, computation.firstId), (task) =>
      task === computation.firstId ? { prefix: 'load', span: ['Alice', 'load'] } : undefined,
    );
    counts.samples += 3;
    this.#observer.event?.({
      time,
      worker: -1,
      topic: 'stealing',
      text: `computation ${computation.number} done — 100 %`,
    });
    counts.events++;
  }
}

/** Returns three samples of `load → parse` and of Longpole's own code, and one of an idle thread. */
function cycleOf(time: number, task: number): ProfileCycle {
  return {
    thread: 'threads-0',
    start: time,
    stop: time + 4 * TICK,
    interval: TICK,
    parents: Int32Array.of(-1, 0),
    names: ['load', 'parse'],
    files: ['/home/größe/load.ts', ''],
    lines: Int32Array.of(7, 0),
    times: Float64Array.of(time, time + TICK, time + 2 * TICK, time + 3 * TICK),
    stacks: Int32Array.of(1, 0, STACK_IDLE, STACK_RUNTIME),
    sampleLines: Int32Array.of(0, 9, 0, 0),
    tasks: Float64Array.of(task, task, -1, -1),
  };
}

/** Copies the arrays that an engine overwrites after reporting them. */
export function copyOf(runs: TaskRuns): TaskRuns {
  const { ids, states, types, nbytes, attempts, ready, dispatched, received, started, stopped } = runs;
  return {
    ...runs,
    ids: ids.slice(),
    states: states.slice(),
    types: types.slice(),
    nbytes: nbytes.slice(),
    attempts: attempts.slice(),
    ready: ready.slice(),
    dispatched: dispatched.slice(),
    received: received.slice(),
    started: started.slice(),
    stopped: stopped.slice(),
    ...(runs.coreWaits === undefined ? {} : { coreWaits: runs.coreWaits.slice() }),
    ...(runs.seceded === undefined ? {} : { seceded: runs.seceded.slice() }),
    ...(runs.resumed === undefined ? {} : { resumed: runs.resumed.slice() }),
    ...(runs.waited === undefined ? {} : { waited: runs.waited.slice() }),
  };
}
