// Makes traces from short descriptions, for tests of analyses and views. Values that are left out default to those of a
// run without delays.

import { taskClientName } from '../protocol/clientNames.js';
import { ACTIONS, type Action, TASK_STATES } from '../protocol/clusterObserver.js';
import type { Reported } from '../protocol/traceSchema.js';
import { StringTable } from './stringTable.js';
import { DIRECTIONS, TRANSFER_KINDS, type Trace } from './trace.js';
import { TraceBuilder } from './traceBuilder.js';

export interface SyntheticTask {
  readonly key: string;
  readonly started: number;
  readonly stopped: number;
  /** Name of the worker. Default `w0`. */
  readonly worker?: string;
  /** Keys of its dependencies. */
  readonly needs?: readonly string[];
  /** Default: the key without its token, as in DASF's traces. */
  readonly prefix?: string;
  readonly group?: string;
  readonly functionName?: string;
  readonly span?: string;
  readonly thread?: number;
  readonly state?: (typeof TASK_STATES)[number];
  readonly attempt?: number;
  readonly nbytes?: number;
  readonly resultType?: string;
  /** Default: the start of the trace. */
  readonly submitted?: number;
  /** Default: the end of the last dependency, or `submitted`. */
  readonly ready?: number;
  /** Default: `ready`. Each of the following times defaults to the previous one. */
  readonly dispatched?: number;
  readonly received?: number;
  /** Default: `stopped`. */
  readonly acknowledged?: number;
  /** Seconds of waiting for a core. Default: unknown. */
  readonly coreWait?: number;
  /** When the task left its slot, and when it had its last awaited result. Default: it stayed in its slot. */
  readonly seceded?: number;
  readonly resumed?: number;
  /** Seconds after `seceded` in which it did not use its thread. Default: the time from `seceded` to `resumed`. */
  readonly waited?: number;
  /** Key of the task whose code submitted the computation. Default: the client. */
  readonly submitter?: string;
  /** Number of its computation: 1, 2, …; default 1. */
  readonly computation?: number;
}

type Movement = Reported<'transfers'>;

/** A transfer. `peer` defaults to a client, `compressed` to `nbytes`. */
type SyntheticTransfer = Pick<Movement, 'nbytes' | 'start' | 'stop'> &
  Partial<Omit<Movement, 'worker' | 'peer'>> & { readonly worker: string; readonly peer?: string };

export interface SyntheticSpec {
  /** Workers without tasks, with more than one thread, or on another host than `h`. */
  readonly workers?: readonly {
    name: string;
    /** Address of a Dask worker, e.g. `tcp://10.0.0.1:4000`. */
    address?: string;
    host?: string;
    threads?: number;
    memoryLimit?: number;
    started?: number;
    stopped?: number;
    /** Why the worker left. */
    reason?: string;
  }[];
  /** Time of the program's first call. Default: the submission of the first task. */
  readonly called?: number;
  /** Time from which Longpole prepared the tasks of the first computation. */
  readonly prepared?: number;
  /** Client of the computations that no task submitted. */
  readonly client?: string;
  /** Tasks in the order of rows; a task stands after its dependencies. */
  readonly tasks?: readonly SyntheticTask[];
  readonly transfers?: readonly SyntheticTransfer[];
  readonly intervals?: readonly {
    worker: string;
    action: Action;
    start: number;
    stop: number;
    /** Key of the task that the interval belongs to. */
    task?: string;
    thread?: number;
    nbytes?: number;
  }[];
  readonly memory?: readonly {
    worker: string;
    time: number;
    managed: number;
    unmanaged?: number;
    spilled?: number;
    process?: number;
    tasks?: number;
  }[];
  /** A sample without a worker belongs to the host. */
  readonly resources?: readonly {
    time: number;
    worker?: string;
    figures: Readonly<Record<string, number>>;
  }[];
  readonly metrics?: readonly {
    time: number;
    worker: string;
    context?: string;
    span?: string;
    prefix?: string;
    activity: string;
    unit?: string;
    value: number;
  }[];
  /** Samples of the profiler, 10 ms each: functions from the outermost to the innermost, in tasks of a prefix. */
  readonly samples?: readonly {
    time: number;
    /** Null for the scheduler's thread. */
    worker?: string | null;
    prefix: string;
    stack: readonly string[];
    /** Default `program.js`. */
    /** File of all functions, or of each. */
    file?: string | readonly string[];
    count?: number;
  }[];
  readonly events?: readonly { time: number; worker?: string; topic: string; text: string }[];
}

type Sample = NonNullable<SyntheticSpec['samples']>[number];

const HOST = 'h';

/** Returns the trace of a described run. Times are seconds from any zero. */
export function syntheticTrace(spec: SyntheticSpec): Trace {
  return new SyntheticBuilder(spec).build();
}

class SyntheticBuilder {
  /** Keys have a separate table, as in live and recorded traces. The tables have no id in common. */
  readonly #builder = new TraceBuilder(new StringTable());
  readonly #spec: SyntheticSpec;
  readonly #hosts = new Map<string, string>();
  readonly #ids = new Map<string, number>();
  readonly #stops = new Map<string, number>();
  /** Number of the innermost frame, by stack. */
  readonly #frames = new Map<string, number>();

  constructor(spec: SyntheticSpec) {
    this.#spec = spec;
    for (let i = 0; i < 3; i++) this.#builder.keys.internString(`unused ${i}`);
    const { workers } = this.#builder;
    for (const {
      name,
      address,
      host = HOST,
      threads = 1,
      memoryLimit = 0,
      started = 0,
      stopped,
      reason,
    } of spec.workers ?? []) {
      this.#hosts.set(name, host);
      const row = workers.of(this.#text(host), this.#text(name));
      const more = {
        ...(stopped === undefined ? {} : { stopped }),
        ...(address === undefined ? {} : { address: this.#text(address) }),
        ...(reason === undefined ? {} : { reason: this.#text(reason) }),
      };
      workers.describe(row, { threads, memoryLimit, started, ...more });
    }
  }

  build(): Trace {
    const builder = this.#builder;
    const { tasks = [], intervals = [], memory = [], resources = [], metrics = [], events = [] } = this.#spec;
    this.#addComputations(tasks);
    for (const task of tasks) this.#addTask(task);
    for (const transfer of this.#spec.transfers ?? []) this.#addTransfer(transfer);
    for (const { worker, action, start, stop, task, thread = 0, nbytes = 0 } of intervals) {
      builder.intervals.add({
        worker: this.#worker(worker),
        thread,
        action: ACTIONS.indexOf(action),
        start,
        stop,
        task: task === undefined ? -1 : this.#id(task),
        nbytes,
      });
    }
    for (const one of memory) {
      const { managed, unmanaged = 0, spilled = 0, process = managed + unmanaged, tasks: held = 0 } = one;
      const [host, worker] = [this.#host(one.worker), this.#worker(one.worker)];
      builder.memory.add({ time: one.time, host, worker, managed, unmanaged, spilled, process, tasks: held });
    }
    for (const { time, worker, figures } of resources) {
      const row = worker === undefined ? -1 : this.#worker(worker);
      const host = worker === undefined ? this.#text(HOST) : this.#host(worker);
      builder.resources.add({ time, host, worker: row }, new Map(Object.entries(figures)));
    }
    for (const one of metrics) {
      const { context = 'execute', span = 'default', prefix = '', unit = 'seconds' } = one;
      builder.metrics.add({
        time: one.time,
        worker: this.#worker(one.worker),
        context: this.#text(context),
        span: this.#text(span),
        prefix: this.#text(prefix),
        activity: this.#text(one.activity),
        unit: this.#text(unit),
        value: one.value,
      });
    }
    for (const sample of this.#spec.samples ?? []) this.#addSample(sample);
    for (const { time, worker, topic, text } of events) {
      const row = worker === undefined ? -1 : this.#worker(worker);
      builder.events.add({ time, worker: row, topic: this.#text(topic), text: this.#text(text) });
    }
    return builder.build();
  }

  #addComputations(tasks: readonly SyntheticTask[]): void {
    const count = tasks.reduce((most, { computation = 1 }) => Math.max(most, computation), 0);
    for (let number = 1; number <= count; number++) {
      const own = tasks.filter(({ computation = 1 }) => computation === number);
      const keys = [...new Set(own.map(({ key }) => key))];
      const first = own.reduce((least, task) => Math.min(least, task.submitted ?? task.started), Infinity);
      const start = number === 1 ? (this.#spec.called ?? first) : first;
      const stop = own.reduce((last, task) => Math.max(last, task.acknowledged ?? task.stopped), -Infinity);
      const firstId = this.#ids.size;
      const submitter = own[0]?.submitter;
      for (const key of keys) this.#id(key);
      this.#builder.computations.push({
        number,
        firstId,
        size: keys.length,
        start,
        prepared: number === 1 ? (this.#spec.prepared ?? Number.NaN) : Number.NaN,
        stop,
        keys,
        client: submitter === undefined ? (this.#spec.client ?? 'client') : taskClientName(submitter),
        code: '',
      });
    }
  }

  #addTask(task: SyntheticTask): void {
    const builder = this.#builder;
    const { key, started, stopped, worker = 'w0', needs = [], computation = 1 } = task;
    const { seceded = Number.NaN, resumed = Number.NaN, waited = resumed - seceded } = task;
    const submitted = task.submitted ?? this.#builder.computations[computation - 1]?.start ?? started;
    const ready =
      task.ready ??
      needs.reduce((last, need) => Math.max(last, this.#stops.get(need) ?? submitted), submitted);
    const dispatched = task.dispatched ?? ready;
    const text = (value: string | undefined): number => (value === undefined ? -1 : this.#text(value));
    const named = (name: 'prefix' | 'functionName', value: string | undefined) =>
      value === undefined ? {} : { [name]: this.#text(value) };
    for (const need of needs) builder.dependencies.push(this.#key(need));
    builder.addTask(
      {
        key: this.#key(key),
        recordedName: -1,
        host: this.#host(worker),
        worker: this.#text(worker),
        device: -1,
        stop: stopped,
        duration: stopped - started - (waited || 0),
        nbytes: task.nbytes ?? 0,
        resultType: text(task.resultType),
        dtype: -1,
        shape: -1,
      },
      {
        id: this.#id(key),
        span: this.#text(task.span ?? 'default'),
        computation: computation - 1,
        thread: task.thread ?? 0,
        state: TASK_STATES.indexOf(task.state ?? 'memory'),
        attempt: task.attempt ?? 1,
        started,
        submitted,
        ready,
        dispatched,
        received: task.received ?? dispatched,
        acknowledged: task.acknowledged ?? stopped,
        coreWait: task.coreWait ?? Number.NaN,
        seceded,
        resumed,
        waited,
        ...named('functionName', task.functionName ?? functionOf(key)),
        ...named('prefix', task.prefix ?? task.functionName ?? functionOf(key)),
        group: this.#key(task.group ?? task.prefix ?? task.functionName ?? functionOf(key)),
      },
    );
    this.#stops.set(key, task.acknowledged ?? stopped);
  }

  #addTransfer(transfer: SyntheticTransfer): void {
    const { worker, peer, direction = 'incoming', what = 'gather-dep', keys = [], nbytes } = transfer;
    this.#builder.transfers.add({
      compressed: nbytes,
      ...transfer,
      worker: this.#worker(worker),
      peer: peer === undefined ? -1 : this.#worker(peer),
      direction: DIRECTIONS.indexOf(direction),
      what: TRANSFER_KINDS.indexOf(what),
      keys: keys.map((key) => this.#key(key)),
    });
  }

  #addSample({ time, worker = 'w0', prefix, stack, file = 'program.js', count = 1 }: Sample): void {
    const { frames, samples } = this.#builder;
    const files = [file].flat();
    let [caller, row, path] = [-1, -1, files.join()];
    for (const [depth, functionName] of stack.entries()) {
      path += `/${functionName}`;
      const id = this.#frames.get(path) ?? this.#frames.size;
      this.#frames.set(path, id);
      row = frames.add({
        id,
        parent: caller,
        functionName,
        file: [file].flat()[depth] ?? [file].flat()[0]!,
        line: 1,
      });
      caller = id;
    }
    samples.add({
      time,
      worker: worker === null ? -1 : this.#worker(worker),
      thread: 0,
      task: -1,
      prefix: this.#text(prefix),
      span: this.#text('default'),
      frame: row,
      line: 0,
      count,
      interval: 0.01,
    });
  }

  #key(value: string): number {
    return this.#builder.keys.internString(value);
  }

  #text(value: string): number {
    return this.#builder.strings.internString(value);
  }

  #host(worker: string): number {
    return this.#text(this.#hosts.get(worker) ?? HOST);
  }

  #worker(name: string): number {
    return this.#builder.workers.of(this.#host(name), this.#text(name));
  }

  #id(key: string): number {
    const known = this.#ids.get(key) ?? this.#ids.size;
    this.#ids.set(key, known);
    return known;
  }
}

/** Returns the prefix of a key: `load` for `load-17`. */
function functionOf(key: string): string {
  return /^[^-]+/.exec(key)?.[0] ?? key;
}
