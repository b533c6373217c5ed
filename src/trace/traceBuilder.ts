// Builds the columns of a trace row by row. Readers of files write to it, each knowing its own format.
import { Float64Column, Int32Column } from './columns.js';
import { functionNameSpan } from './functionName.js';
import { StringTable } from './stringTable.js';
import type { MemoryRows, ResourceRows, TaskRows, Trace, TraceDamage } from './trace.js';

/** A task without its edges; strings are ids, -1 where absent. */
export interface TaskRow {
  key: number;
  recordedName: number;
  host: number;
  worker: number;
  device: number;
  stop: number;
  duration: number;
  nbytes: number;
  resultType: number;
  dtype: number;
  shape: number;
}

export class TraceBuilder {
  readonly strings = new StringTable();
  /** Push the keys of a task's edges, then `addTask`; `dropEdges` takes back what was pushed for a task that is none. */
  readonly dependencies = new Int32Column();
  readonly dependents = new Int32Column();
  events = 0;

  readonly #tasks = {
    key: new Int32Column(),
    recordedName: new Int32Column(),
    host: new Int32Column(),
    worker: new Int32Column(),
    device: new Int32Column(),
    stop: new Float64Column(),
    duration: new Float64Column(),
    nbytes: new Float64Column(),
    resultType: new Int32Column(),
    dtype: new Int32Column(),
    shape: new Int32Column(),
    dependencyOffsets: new Int32Column(),
    dependentOffsets: new Int32Column(),
  };
  readonly #memory = {
    time: new Float64Column(),
    host: new Int32Column(),
    worker: new Int32Column(),
    nbytes: new Float64Column(),
    tasks: new Float64Column(),
  };
  readonly #resources = {
    time: new Float64Column(),
    host: new Int32Column(),
    worker: new Int32Column(),
    device: new Int32Column(),
    gpuUtilization: new Float64Column(),
    gpuMemoryUsed: new Float64Column(),
  };
  readonly #figures = new Map<string, Float64Column>();
  #damage: TraceDamage | undefined;

  constructor() {
    this.#tasks.dependencyOffsets.push(0);
    this.#tasks.dependentOffsets.push(0);
  }

  addTask(row: TaskRow): void {
    const tasks = this.#tasks;
    tasks.key.push(row.key);
    tasks.recordedName.push(row.recordedName);
    tasks.host.push(row.host);
    tasks.worker.push(row.worker);
    tasks.device.push(row.device);
    tasks.stop.push(row.stop);
    tasks.duration.push(row.duration);
    tasks.nbytes.push(row.nbytes);
    tasks.resultType.push(row.resultType);
    tasks.dtype.push(row.dtype);
    tasks.shape.push(row.shape);
    tasks.dependencyOffsets.push(this.dependencies.length);
    tasks.dependentOffsets.push(this.dependents.length);
  }

  dropEdges(): void {
    const { dependencyOffsets, dependentOffsets } = this.#tasks;
    this.dependencies.length = dependencyOffsets.values[dependencyOffsets.length - 1]!;
    this.dependents.length = dependentOffsets.values[dependentOffsets.length - 1]!;
  }

  addMemory(time: number, host: number, worker: number, nbytes: number, tasks: number): void {
    const memory = this.#memory;
    memory.time.push(time);
    memory.host.push(host);
    memory.worker.push(worker);
    memory.nbytes.push(nbytes);
    memory.tasks.push(tasks);
  }

  /** `figures` are all numbers of the sample, the GPU's included. */
  addResource(
    time: number,
    host: number,
    worker: number,
    device: number,
    figures: ReadonlyMap<string, number>,
  ): void {
    const resources = this.#resources;
    const row = resources.time.length;
    resources.time.push(time);
    resources.host.push(host);
    resources.worker.push(worker);
    resources.device.push(device);
    resources.gpuUtilization.push(figures.get('gpu_utilization') ?? Number.NaN);
    resources.gpuMemoryUsed.push(figures.get('gpu_memory_used') ?? Number.NaN);
    for (const [name, value] of figures) {
      if (name === 'gpu_utilization' || name === 'gpu_memory_used') continue;
      const column = this.#figures.get(name) ?? this.#addFigure(name);
      if (column === undefined) continue;
      while (column.length < row) column.push(Number.NaN);
      column.push(value);
    }
  }

  /** Undefined beyond `MAX_FIGURES`: a damaged file must not make a column for every row. */
  #addFigure(name: string): Float64Column | undefined {
    if (this.#figures.size >= MAX_FIGURES) return undefined;
    const column = new Float64Column();
    this.#figures.set(name, column);
    return column;
  }

  addDamage(offset: number, bytes: number, reason: string): void {
    const known = this.#damage;
    this.#damage =
      known === undefined
        ? { stretches: 1, bytes, offset, reason }
        : { ...known, stretches: known.stretches + 1, bytes: known.bytes + bytes };
  }

  build(): Trace {
    return {
      strings: this.strings,
      tasks: this.#buildTasks(),
      memory: this.#buildMemory(),
      resources: this.#buildResources(),
      events: this.events,
      damage: this.#damage,
    };
  }

  #buildTasks(): TaskRows {
    const tasks = this.#tasks;
    const key = tasks.key.take();
    return {
      length: key.length,
      key,
      functionName: functionNames(key, this.strings),
      recordedName: tasks.recordedName.take(),
      host: tasks.host.take(),
      worker: tasks.worker.take(),
      device: tasks.device.take(),
      stop: tasks.stop.take(),
      duration: tasks.duration.take(),
      nbytes: tasks.nbytes.take(),
      resultType: tasks.resultType.take(),
      dtype: tasks.dtype.take(),
      shape: tasks.shape.take(),
      dependencyOffsets: tasks.dependencyOffsets.take(),
      dependencies: this.dependencies.take(),
      dependentOffsets: tasks.dependentOffsets.take(),
      dependents: this.dependents.take(),
    };
  }

  #buildMemory(): MemoryRows {
    const memory = this.#memory;
    return {
      length: memory.time.length,
      time: memory.time.take(),
      host: memory.host.take(),
      worker: memory.worker.take(),
      nbytes: memory.nbytes.take(),
      tasks: memory.tasks.take(),
    };
  }

  #buildResources(): ResourceRows {
    const resources = this.#resources;
    const { length } = resources.time;
    const figures = new Map<string, Float64Array>();
    for (const [name, column] of this.#figures) {
      while (column.length < length) column.push(Number.NaN);
      figures.set(name, column.take());
    }
    return {
      length,
      time: resources.time.take(),
      host: resources.host.take(),
      worker: resources.worker.take(),
      device: resources.device.take(),
      gpuUtilization: resources.gpuUtilization.take(),
      gpuMemoryUsed: resources.gpuMemoryUsed.take(),
      figures,
    };
  }
}

/** Named figures beside those of the GPU. DASF's monitor has eight. */
const MAX_FIGURES = 64;

/** The id of the function's name for each key; each distinct key is looked at once. */
function functionNames(keys: Int32Array, strings: StringTable): Int32Array {
  const names = new Int32Array(keys.length);
  const known = new Int32Array(strings.length).fill(-1);
  const span = { start: 0, end: 0 };
  for (let row = 0; row < keys.length; row++) {
    const key = keys[row]!;
    let name = known[key]!;
    if (name < 0) {
      span.start = strings.startOf(key);
      span.end = strings.endOf(key);
      functionNameSpan(strings.bytes, span);
      name = strings.intern(strings.bytes, strings.view, span.start, span.end);
      known[key] = name;
    }
    names[row] = name;
  }
  return names;
}
