// Builds a trace row by row, for the readers of files.

import { Float64Column, Int32Column } from '../base/columns.js';
import { addLazy, getOrMake, recordOf } from '../base/lookUps.js';
import { functionNameSpan } from './functionName.js';
import { totalsOfRows } from './rowTotals.js';
import { FrameBuilder } from './samples/sampleRows.js';
import { StringTable } from './stringTable.js';
import { ResourceBuilder, WorkerBuilder } from './tableBuilders.js';
import { TableBuilder } from './tableRows.js';
import { RUN_TIMES, type TaskSources, taskRows } from './taskColumns.js';
import { NO_ROWS, printable, type Trace, type TraceComputation, type TraceDamage } from './trace.js';

const TEXTS = ['key', 'recordedName', 'host', 'worker', 'device', 'resultType', 'dtype', 'shape'] as const;

/** A task without its edges. Texts are ids of strings, -1 if absent; `worker` is the name of the worker. */
export type TaskRow = { [K in (typeof TEXTS)[number] | 'stop' | 'duration' | 'nbytes']: number };

/** A task of which nothing is known. */
export const UNKNOWN_TASK: TaskRow = {
  ...recordOf(TEXTS, () => -1),
  ...recordOf(['stop', 'duration', 'nbytes'], () => Number.NaN),
};

/** Columns that every format has. */
const INTEGERS = [...TEXTS, 'dependencyOffsets', 'dependentOffsets'] as const;
const FLOATS = ['stopped', 'duration', 'nbytes'] as const;
const IDS = ['prefix', 'group', 'functionName', 'span', 'computation', 'thread', 'call'] as const;
const BYTES = ['state', 'attempt'] as const;
const NUMBERS = ['id', 'coreWait', ...RUN_TIMES] as const;
const DETAILS = [...IDS, ...BYTES, ...NUMBERS];
type Detail = (typeof DETAILS)[number];

/** Columns that few formats have. A column without values is omitted; TaskRows has a default for it. */
export type TaskDetails = { readonly [K in Detail]?: number };

export class TraceBuilder {
  readonly strings = new StringTable();
  readonly keys: StringTable;
  /**
   * Keys of the edges. Push those of a task, then call `addTask`; `dropEdges` discards keys pushed for an invalid task.
   */
  readonly dependencies = new Int32Column();
  readonly dependents = new Int32Column();
  readonly workers = new WorkerBuilder();
  readonly intervals = new TableBuilder('intervals');
  readonly transfers = new TableBuilder('transfers');
  readonly memory = new TableBuilder('memory');
  readonly resources = new ResourceBuilder();
  readonly metrics = new TableBuilder('metrics');
  readonly frames = new FrameBuilder(this.strings);
  readonly samples = new TableBuilder('samples');
  readonly events = new TableBuilder('events');
  readonly computations: TraceComputation[] = [];
  eventCount = 0;
  /** Name of the file that is read, for damage to one of several files. */
  file: string | undefined;

  readonly #tasks = {
    ...recordOf(INTEGERS, () => new Int32Column()),
    ...recordOf(FLOATS, () => new Float64Column()),
  };
  readonly #details = new Map<Detail, Float64Column>();
  #damage: TraceDamage | undefined;

  /** `keys` defaults to the table of the other strings. */
  constructor(keys?: StringTable) {
    this.keys = keys ?? this.strings;
    this.#tasks.dependencyOffsets.push(0);
    this.#tasks.dependentOffsets.push(0);
  }

  addTask(row: TaskRow, details?: TaskDetails): void {
    const tasks = this.#tasks;
    if (details !== undefined) this.#addDetails(details);
    tasks.key.push(row.key);
    tasks.recordedName.push(row.recordedName);
    tasks.host.push(row.host);
    tasks.worker.push(this.workers.of(row.host, row.worker));
    tasks.device.push(row.device);
    tasks.stopped.push(row.stop);
    tasks.duration.push(row.duration);
    tasks.nbytes.push(row.nbytes);
    tasks.resultType.push(row.resultType);
    tasks.dtype.push(row.dtype);
    tasks.shape.push(row.shape);
    tasks.dependencyOffsets.push(this.dependencies.length);
    tasks.dependentOffsets.push(this.dependents.length);
  }

  #addDetails(details: TaskDetails): void {
    const row = this.#tasks.key.length;
    for (const name of DETAILS) {
      const value = details[name];
      if (value === undefined) continue;
      const column = getOrMake(this.#details, name, () => new Float64Column());
      while (column.length < row) column.push(Number.NaN);
      column.push(value);
    }
  }

  dropEdges(): void {
    const { dependencyOffsets, dependentOffsets } = this.#tasks;
    this.dependencies.length = dependencyOffsets.values[dependencyOffsets.length - 1]!;
    this.dependents.length = dependentOffsets.values[dependentOffsets.length - 1]!;
  }

  addDamage(offset: number, bytes: number, what: string): void {
    const known = this.#damage;
    const reason = this.file === undefined ? what : `${this.file}: ${what}`;
    this.#damage =
      known === undefined
        ? { stretches: 1, bytes, offset, reason }
        : { ...known, stretches: known.stretches + 1, bytes: known.bytes + bytes };
  }

  build(): Trace {
    const { strings, keys } = this;
    const workers = this.workers.build();
    const tasks = taskRows(this.#tasks.key.length, this.#taskSources(), workers, () => keys);
    const trace = {
      strings,
      keys,
      workers,
      computations: this.computations,
      tasks,
      intervals: this.intervals.build(),
      transfers: this.transfers.build(),
      memory: this.memory.build(),
      resources: this.resources.build(),
      metrics: this.metrics.build(),
      frames: this.frames.build(),
      samples: this.samples.build(),
      events: this.events.build(),
      evicted: NO_ROWS,
      eventCount: this.eventCount,
      damage: this.#damage,
    };
    addLazy(trace, { totals: () => totalsOfRows(trace) });
    return printable(trace);
  }

  #taskSources(): TaskSources {
    const tasks = this.#tasks;
    const key = tasks.key.take();
    const { length } = key;
    const numbers = (name: Detail): Float64Array | undefined => {
      const column = this.#details.get(name);
      while (column !== undefined && column.length < length) column.push(Number.NaN);
      return column?.take();
    };
    const ids = (name: Detail): Int32Array | undefined => {
      const values = numbers(name);
      if (values === undefined) return undefined;
      // `Int32Array.from` with a function takes ten times as long.
      const result = new Int32Array(values.length);
      for (let row = 0; row < result.length; row++)
        result[row] = Number.isNaN(values[row]!) ? -1 : values[row]!;
      return result;
    };
    const bytes = (name: Detail): Uint8Array | undefined => {
      const values = numbers(name);
      return values && Uint8Array.from(values);
    };
    const { functionName = functionNames(key, this.keys, this.strings), ...others } = recordOf(IDS, ids);
    return {
      ...recordOf(INTEGERS, (name) => tasks[name].take()),
      ...recordOf(FLOATS, (name) => tasks[name].take()),
      dependencies: this.dependencies.take(),
      dependents: this.dependents.take(),
      functionName,
      ...others,
      ...recordOf(NUMBERS, numbers),
      ...recordOf(BYTES, bytes),
    };
  }
}

/** Returns the id of the function name for each key. Each distinct key is parsed once. */
function functionNames(ids: Int32Array, keys: StringTable, strings: StringTable): Int32Array {
  const names = new Int32Array(ids.length);
  const known = new Int32Array(keys.length).fill(-1);
  const { offsets, bytes, view } = keys.batch();
  const span = { start: 0, end: 0 };
  for (let row = 0; row < ids.length; row++) {
    const key = ids[row]!;
    let name = known[key]!;
    if (name < 0) {
      span.start = offsets[key]!;
      span.end = offsets[key + 1]!;
      functionNameSpan(bytes, span);
      name = strings.intern(bytes, view, span.start, span.end);
      known[key] = name;
    }
    names[row] = name;
  }
  return names;
}
