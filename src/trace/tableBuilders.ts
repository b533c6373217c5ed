// The smaller tables of a trace, row by row: workers, samples, transfers, intervals, metrics and events.
import { Float64Column, Int32Column, Uint8Column } from './columns.js';
import type {
  EventRows,
  IntervalRows,
  MemoryRows,
  MetricRows,
  ResourceRows,
  TransferRows,
  WorkerRows,
} from './trace.js';

/** Named figures beside those of the GPU. DASF's monitor has eight, a damaged file as many as it likes. */
const MAX_FIGURES = 64;

/** A worker; texts are ids of the trace's strings. */
export interface WorkerRow {
  readonly name: number;
  readonly host: number;
  readonly address?: number;
  readonly pid?: number;
  readonly threads?: number;
  readonly memoryLimit?: number;
  readonly started?: number;
  readonly stopped?: number;
  readonly reason?: number;
}

export class WorkerBuilder {
  readonly #ids = { name: new Int32Column(), address: new Int32Column(), host: new Int32Column() };
  readonly #reason = new Int32Column();
  readonly #numbers = {
    pid: new Float64Column(),
    threads: new Float64Column(),
    memoryLimit: new Float64Column(),
    started: new Float64Column(),
    stopped: new Float64Column(),
  };
  readonly #byHost = new Map<number, Map<number, number>>();
  /** What was asked for last: events of one worker mostly follow each other. */
  readonly #last = { host: -2, name: -2, row: -1 };

  get length(): number {
    return this.#reason.length;
  }

  add(row: WorkerRow): number {
    const ids = this.#ids;
    const numbers = this.#numbers;
    ids.name.push(row.name);
    ids.host.push(row.host);
    ids.address.push(row.address ?? -1);
    numbers.pid.push(row.pid ?? Number.NaN);
    numbers.threads.push(row.threads ?? Number.NaN);
    numbers.memoryLimit.push(row.memoryLimit ?? Number.NaN);
    numbers.started.push(row.started ?? Number.NaN);
    numbers.stopped.push(row.stopped ?? Number.NaN);
    this.#reason.push(row.reason ?? -1);
    return this.length - 1;
  }

  /** The row of the worker of this name on this host; -1 without a name. */
  of(host: number, name: number): number {
    const last = this.#last;
    if (host === last.host && name === last.name) return last.row;
    if (name < 0) return -1;
    let names = this.#byHost.get(host);
    if (names === undefined) {
      names = new Map();
      this.#byHost.set(host, names);
    }
    let row = names.get(name);
    if (row === undefined) {
      row = this.add({ name, host });
      names.set(name, row);
    }
    last.host = host;
    last.name = name;
    last.row = row;
    return row;
  }

  /** What became known about a worker since its first row. */
  describe(row: number, more: Partial<WorkerRow>): void {
    const { pid, threads, memoryLimit, started, stopped } = this.#numbers;
    if (more.name !== undefined) this.#ids.name.values[row] = more.name;
    if (more.host !== undefined) this.#ids.host.values[row] = more.host;
    if (more.address !== undefined) this.#ids.address.values[row] = more.address;
    if (more.reason !== undefined) this.#reason.values[row] = more.reason;
    if (more.pid !== undefined) pid.values[row] = more.pid;
    if (more.threads !== undefined) threads.values[row] = more.threads;
    if (more.memoryLimit !== undefined) memoryLimit.values[row] = more.memoryLimit;
    if (more.started !== undefined) started.values[row] = more.started;
    if (more.stopped !== undefined) stopped.values[row] = more.stopped;
  }

  /** Copies: what becomes known later changes rows. */
  build(): WorkerRows {
    const { name, address, host } = this.#ids;
    const { pid, threads, memoryLimit, started, stopped } = this.#numbers;
    return {
      length: this.length,
      name: name.take().slice(),
      address: address.take().slice(),
      host: host.take().slice(),
      pid: pid.take().slice(),
      threads: threads.take().slice(),
      memoryLimit: memoryLimit.take().slice(),
      started: started.take().slice(),
      stopped: stopped.take().slice(),
      reason: this.#reason.take().slice(),
    };
  }
}

export class IntervalBuilder {
  readonly #worker = new Int32Column();
  readonly #thread = new Int32Column();
  readonly #action = new Uint8Column();
  readonly #numbers = {
    start: new Float64Column(),
    stop: new Float64Column(),
    task: new Float64Column(),
    nbytes: new Float64Column(),
  };

  /** `action` is an index into ACTIONS. */
  add(row: {
    worker: number;
    thread: number;
    action: number;
    start: number;
    stop: number;
    task: number;
    nbytes: number;
  }): void {
    this.#worker.push(row.worker);
    this.#thread.push(row.thread);
    this.#action.push(row.action);
    this.#numbers.start.push(row.start);
    this.#numbers.stop.push(row.stop);
    this.#numbers.task.push(row.task);
    this.#numbers.nbytes.push(row.nbytes);
  }

  get length(): number {
    return this.#worker.length;
  }

  build(): IntervalRows {
    return {
      length: this.length,
      worker: this.#worker.take(),
      thread: this.#thread.take(),
      action: this.#action.take(),
      ...taken(this.#numbers),
    };
  }
}

export class TransferBuilder {
  readonly #worker = new Int32Column();
  readonly #peer = new Int32Column();
  readonly #direction = new Uint8Column();
  readonly #what = new Uint8Column();
  readonly #numbers = {
    nbytes: new Float64Column(),
    compressed: new Float64Column(),
    start: new Float64Column(),
    stop: new Float64Column(),
  };
  readonly #keyOffsets = new Int32Column();
  readonly #keys = new Int32Column();

  constructor() {
    this.#keyOffsets.push(0);
  }

  /** `direction` and `what` are indices into DIRECTIONS and TRANSFER_KINDS, `keys` ids of keys. */
  add(row: {
    worker: number;
    peer: number;
    direction: number;
    what: number;
    nbytes: number;
    compressed: number;
    start: number;
    stop: number;
    keys: Iterable<number>;
  }): void {
    this.#worker.push(row.worker);
    this.#peer.push(row.peer);
    this.#direction.push(row.direction);
    this.#what.push(row.what);
    this.#numbers.nbytes.push(row.nbytes);
    this.#numbers.compressed.push(row.compressed);
    this.#numbers.start.push(row.start);
    this.#numbers.stop.push(row.stop);
    for (const key of row.keys) this.#keys.push(key);
    this.#keyOffsets.push(this.#keys.length);
  }

  build(): TransferRows {
    return {
      length: this.#worker.length,
      worker: this.#worker.take(),
      peer: this.#peer.take(),
      direction: this.#direction.take(),
      what: this.#what.take(),
      ...taken(this.#numbers),
      keyOffsets: this.#keyOffsets.take(),
      keys: this.#keys.take(),
    };
  }
}

export class MemoryBuilder {
  readonly #host = new Int32Column();
  readonly #worker = new Int32Column();
  readonly #numbers = {
    time: new Float64Column(),
    managed: new Float64Column(),
    unmanaged: new Float64Column(),
    spilled: new Float64Column(),
    process: new Float64Column(),
    tasks: new Float64Column(),
  };

  add(
    time: number,
    host: number,
    worker: number,
    managed: number,
    tasks: number,
    more?: { unmanaged: number; spilled: number; process: number },
  ): void {
    const numbers = this.#numbers;
    this.#host.push(host);
    this.#worker.push(worker);
    numbers.time.push(time);
    numbers.managed.push(managed);
    numbers.tasks.push(tasks);
    numbers.unmanaged.push(more?.unmanaged ?? Number.NaN);
    numbers.spilled.push(more?.spilled ?? Number.NaN);
    numbers.process.push(more?.process ?? Number.NaN);
  }

  get length(): number {
    return this.#host.length;
  }

  build(): MemoryRows {
    return {
      length: this.length,
      host: this.#host.take(),
      worker: this.#worker.take(),
      ...taken(this.#numbers),
    };
  }
}

export class ResourceBuilder {
  readonly #ids = { host: new Int32Column(), worker: new Int32Column(), device: new Int32Column() };
  readonly #numbers = {
    time: new Float64Column(),
    gpuUtilization: new Float64Column(),
    gpuMemoryUsed: new Float64Column(),
  };
  readonly #figures = new Map<string, Float64Column>();

  /** `figures` are all numbers of the sample, the GPU's included. */
  add(
    time: number,
    host: number,
    worker: number,
    device: number,
    figures: ReadonlyMap<string, number>,
  ): void {
    const numbers = this.#numbers;
    const row = numbers.time.length;
    numbers.time.push(time);
    this.#ids.host.push(host);
    this.#ids.worker.push(worker);
    this.#ids.device.push(device);
    numbers.gpuUtilization.push(figures.get('gpu_utilization') ?? Number.NaN);
    numbers.gpuMemoryUsed.push(figures.get('gpu_memory_used') ?? Number.NaN);
    for (const [name, value] of figures) {
      if (name === 'gpu_utilization' || name === 'gpu_memory_used') continue;
      const column = this.#figures.get(name) ?? this.#addFigure(name);
      if (column === undefined) continue;
      while (column.length < row) column.push(Number.NaN);
      column.push(value);
    }
  }

  get length(): number {
    return this.#numbers.time.length;
  }

  #addFigure(name: string): Float64Column | undefined {
    if (this.#figures.size >= MAX_FIGURES) return undefined;
    const column = new Float64Column();
    this.#figures.set(name, column);
    return column;
  }

  build(): ResourceRows {
    const { length } = this;
    const figures = new Map<string, Float64Array>();
    for (const [name, column] of this.#figures) {
      while (column.length < length) column.push(Number.NaN);
      figures.set(name, column.take());
    }
    return { length, ...taken(this.#ids), ...taken(this.#numbers), figures };
  }
}

export class MetricBuilder {
  readonly #ids = {
    worker: new Int32Column(),
    context: new Int32Column(),
    span: new Int32Column(),
    prefix: new Int32Column(),
    activity: new Int32Column(),
    unit: new Int32Column(),
  };
  readonly #numbers = { time: new Float64Column(), value: new Float64Column() };

  /** Texts are ids of the trace's strings. */
  add(row: {
    time: number;
    worker: number;
    context: number;
    span: number;
    prefix: number;
    activity: number;
    unit: number;
    value: number;
  }): void {
    const ids = this.#ids;
    ids.worker.push(row.worker);
    ids.context.push(row.context);
    ids.span.push(row.span);
    ids.prefix.push(row.prefix);
    ids.activity.push(row.activity);
    ids.unit.push(row.unit);
    this.#numbers.time.push(row.time);
    this.#numbers.value.push(row.value);
  }

  get length(): number {
    return this.#numbers.time.length;
  }

  build(): MetricRows {
    return { length: this.length, ...taken(this.#ids), ...taken(this.#numbers) };
  }
}

export class EventBuilder {
  readonly #time = new Float64Column();
  readonly #ids = { worker: new Int32Column(), topic: new Int32Column(), text: new Int32Column() };

  /** Texts are ids of the trace's strings. */
  add(time: number, worker: number, topic: number, text: number): void {
    this.#time.push(time);
    this.#ids.worker.push(worker);
    this.#ids.topic.push(topic);
    this.#ids.text.push(text);
  }

  build(): EventRows {
    return { length: this.#time.length, time: this.#time.take(), ...taken(this.#ids) };
  }
}

type Taken<T extends Record<string, Int32Column | Float64Column>> = {
  [K in keyof T]: ReturnType<T[K]['take']>;
};

/** The arrays of a record of columns. */
function taken<const T extends Record<string, Int32Column>>(columns: T): { [K in keyof T]: Int32Array };
function taken<const T extends Record<string, Float64Column>>(columns: T): { [K in keyof T]: Float64Array };
function taken(columns: Record<string, Int32Column | Float64Column>): Taken<typeof columns> {
  return Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, column.take()]));
}
