// The columns of tasks. A source gives an array, or a function that makes the array on first use. A column that the
// source lacks is derived from other columns, or absent.
import type { Texts } from './texts.js';
import type { TaskRows, WorkerRows } from './trace.js';

/** A value, or a function that makes the value on first use. */
export type Lazy<T> = T | (() => T);

/** Times of a run besides `stopped`, under these names also in files. */
export const RUN_TIMES = [
  ...(['submitted', 'ready', 'dispatched', 'received', 'started', 'acknowledged'] as const),
  ...(['seceded', 'resumed', 'waited'] as const),
] as const;

type Column = Exclude<keyof TaskRows, 'length' | 'keyOf'>;
type NeededColumn = 'key' | 'functionName' | 'dependencyOffsets' | 'dependencies';

/** Sources of the columns. Only keys, function names and edges are required. */
export type TaskSources = {
  readonly [K in Exclude<Column, NeededColumn>]?: Lazy<TaskRows[K]> | undefined;
} & { readonly [K in NeededColumn]: Lazy<TaskRows[K]> } & {
  /** Returns the key of a row. Default: the text of `key` in `keys`. */
  readonly keyOf?: (row: number) => string;
};

/** Columns without values. All absent columns of a table share one array of each type, which is made on first use. */
class AbsentColumns {
  readonly #length: number;
  #ids: Int32Array | undefined;
  #numbers: Float64Array | undefined;

  constructor(length: number) {
    this.#length = length;
  }

  /** -1 in every row. */
  get ids(): Int32Array {
    this.#ids ??= new Int32Array(this.#length).fill(-1);
    return this.#ids;
  }

  /** NaN in every row. */
  get numbers(): Float64Array {
    this.#numbers ??= new Float64Array(this.#length).fill(Number.NaN);
    return this.#numbers;
  }
}

/**
 * Holds each column in a private field that its getter fills on first use. V8 inlines such a getter, so loops may use
 * `tasks.duration[row]`; a lookup by name would cost some 10 ns per access. Getters generated from the schema take
 * twice as long in such loops. Columns that replace their getter take four times as long, because every trace then has
 * a shape of its own.
 */
export class TaskColumns implements TaskRows {
  readonly length: number;
  readonly #sources: TaskSources;
  readonly #workers: WorkerRows;
  readonly #keys: () => Texts;
  readonly #absent: AbsentColumns;
  #id: Float64Array | undefined;
  #key: Int32Array | undefined;
  #prefix: Int32Array | undefined;
  #group: Int32Array | undefined;
  #functionName: Int32Array | undefined;
  #recordedName: Int32Array | undefined;
  #span: Int32Array | undefined;
  #computation: Int32Array | undefined;
  #host: Int32Array | undefined;
  #worker: Int32Array | undefined;
  #thread: Int32Array | undefined;
  #device: Int32Array | undefined;
  #state: Uint8Array | undefined;
  #attempt: Uint8Array | undefined;
  #submitted: Float64Array | undefined;
  #ready: Float64Array | undefined;
  #dispatched: Float64Array | undefined;
  #received: Float64Array | undefined;
  #started: Float64Array | undefined;
  #stopped: Float64Array | undefined;
  #acknowledged: Float64Array | undefined;
  #coreWait: Float64Array | undefined;
  #seceded: Float64Array | undefined;
  #resumed: Float64Array | undefined;
  #waited: Float64Array | undefined;
  #duration: Float64Array | undefined;
  #nbytes: Float64Array | undefined;
  #resultType: Int32Array | undefined;
  #dtype: Int32Array | undefined;
  #shape: Int32Array | undefined;
  #call: Int32Array | undefined;
  #dependencyOffsets: Int32Array | undefined;
  #dependencies: Int32Array | undefined;
  #dependencyIds: Float64Array | undefined;
  #dependencyRows: Int32Array | undefined;
  #dependentOffsets: Int32Array | undefined;
  #dependents: Int32Array | undefined;

  constructor(length: number, sources: TaskSources, workers: WorkerRows, keys: () => Texts) {
    this.length = length;
    this.#sources = sources;
    this.#workers = workers;
    this.#keys = keys;
    this.#absent = new AbsentColumns(length);
  }

  get id(): Float64Array {
    this.#id ??= make(this.#sources.id) ?? Float64Array.from(this.key);
    return this.#id;
  }
  get key(): Int32Array {
    this.#key ??= make(this.#sources.key) ?? this.#absent.ids;
    return this.#key;
  }
  get prefix(): Int32Array {
    this.#prefix ??= make(this.#sources.prefix) ?? this.functionName;
    return this.#prefix;
  }
  get group(): Int32Array {
    this.#group ??= make(this.#sources.group) ?? this.prefix;
    return this.#group;
  }
  get functionName(): Int32Array {
    this.#functionName ??= make(this.#sources.functionName) ?? this.#absent.ids;
    return this.#functionName;
  }
  get recordedName(): Int32Array {
    this.#recordedName ??= make(this.#sources.recordedName) ?? this.#absent.ids;
    return this.#recordedName;
  }
  get span(): Int32Array {
    this.#span ??= make(this.#sources.span) ?? this.#absent.ids;
    return this.#span;
  }
  get computation(): Int32Array {
    this.#computation ??= make(this.#sources.computation) ?? this.#absent.ids;
    return this.#computation;
  }
  get host(): Int32Array {
    this.#host ??= make(this.#sources.host) ?? this.#hosts();
    return this.#host;
  }
  get worker(): Int32Array {
    this.#worker ??= make(this.#sources.worker) ?? this.#absent.ids;
    return this.#worker;
  }
  get thread(): Int32Array {
    this.#thread ??= make(this.#sources.thread) ?? this.#absent.ids;
    return this.#thread;
  }
  get device(): Int32Array {
    this.#device ??= make(this.#sources.device) ?? this.#absent.ids;
    return this.#device;
  }
  get state(): Uint8Array {
    this.#state ??= make(this.#sources.state) ?? new Uint8Array(this.length);
    return this.#state;
  }
  get attempt(): Uint8Array {
    this.#attempt ??= make(this.#sources.attempt) ?? new Uint8Array(this.length).fill(1);
    return this.#attempt;
  }
  get submitted(): Float64Array {
    this.#submitted ??= make(this.#sources.submitted) ?? this.#absent.numbers;
    return this.#submitted;
  }
  get ready(): Float64Array {
    this.#ready ??= make(this.#sources.ready) ?? this.#absent.numbers;
    return this.#ready;
  }
  get dispatched(): Float64Array {
    this.#dispatched ??= make(this.#sources.dispatched) ?? this.#absent.numbers;
    return this.#dispatched;
  }
  get received(): Float64Array {
    this.#received ??= make(this.#sources.received) ?? this.#absent.numbers;
    return this.#received;
  }
  get started(): Float64Array {
    this.#started ??= make(this.#sources.started) ?? difference(this.stopped, this.duration);
    return this.#started;
  }
  get stopped(): Float64Array {
    this.#stopped ??= make(this.#sources.stopped) ?? this.#absent.numbers;
    return this.#stopped;
  }
  get acknowledged(): Float64Array {
    this.#acknowledged ??= make(this.#sources.acknowledged) ?? this.#absent.numbers;
    return this.#acknowledged;
  }
  get coreWait(): Float64Array {
    this.#coreWait ??= make(this.#sources.coreWait) ?? this.#absent.numbers;
    return this.#coreWait;
  }
  get seceded(): Float64Array {
    this.#seceded ??= make(this.#sources.seceded) ?? this.#absent.numbers;
    return this.#seceded;
  }
  get resumed(): Float64Array {
    this.#resumed ??= make(this.#sources.resumed) ?? this.#absent.numbers;
    return this.#resumed;
  }
  get waited(): Float64Array {
    this.#waited ??= make(this.#sources.waited) ?? this.#absent.numbers;
    return this.#waited;
  }
  get duration(): Float64Array {
    this.#duration ??= make(this.#sources.duration) ?? this.#durations();
    return this.#duration;
  }
  get nbytes(): Float64Array {
    this.#nbytes ??= make(this.#sources.nbytes) ?? this.#absent.numbers;
    return this.#nbytes;
  }
  get resultType(): Int32Array {
    this.#resultType ??= make(this.#sources.resultType) ?? this.#absent.ids;
    return this.#resultType;
  }
  get dtype(): Int32Array {
    this.#dtype ??= make(this.#sources.dtype) ?? this.#absent.ids;
    return this.#dtype;
  }
  get shape(): Int32Array {
    this.#shape ??= make(this.#sources.shape) ?? this.#absent.ids;
    return this.#shape;
  }
  get call(): Int32Array {
    this.#call ??= make(this.#sources.call) ?? this.#absent.ids;
    return this.#call;
  }
  get dependencyOffsets(): Int32Array {
    this.#dependencyOffsets ??= make(this.#sources.dependencyOffsets) ?? this.#absent.ids;
    return this.#dependencyOffsets;
  }
  get dependencies(): Int32Array {
    this.#dependencies ??= make(this.#sources.dependencies) ?? this.#absent.ids;
    return this.#dependencies;
  }
  get dependencyIds(): Float64Array {
    this.#dependencyIds ??= make(this.#sources.dependencyIds) ?? this.#idsOfDependencies();
    return this.#dependencyIds;
  }
  get dependencyRows(): Int32Array {
    this.#dependencyRows ??= make(this.#sources.dependencyRows) ?? latestRows(this, this.#keys().length);
    return this.#dependencyRows;
  }
  get dependentOffsets(): Int32Array {
    this.#dependentOffsets ??= make(this.#sources.dependentOffsets) ?? new Int32Array(this.length + 1);
    return this.#dependentOffsets;
  }
  get dependents(): Int32Array {
    this.#dependents ??= make(this.#sources.dependents) ?? new Int32Array(0);
    return this.#dependents;
  }

  keyOf(row: number): string {
    return this.#sources.keyOf?.(row) ?? this.#keys().get(this.key[row]!);
  }

  /** Without recorded ids, the id of a task's key is the id of the task. */
  #idsOfDependencies(): Float64Array {
    if (this.#sources.id === undefined) return Float64Array.from(this.dependencies);
    return Float64Array.from(this.dependencyRows, (row) => (row < 0 ? -1 : this.id[row]!));
  }

  #durations(): Float64Array {
    const { started, stopped, waited } = this;
    const durations = difference(stopped, started);
    for (let row = 0; row < durations.length; row++) durations[row]! -= waited[row]! || 0;
    return durations;
  }

  #hosts(): Int32Array {
    const hosts = this.#workers.host;
    return this.worker.map((worker) => (worker < 0 ? -1 : hosts[worker]!));
  }
}

function make<T extends Float64Array | Int32Array | Uint8Array>(source: Lazy<T> | undefined): T | undefined {
  return typeof source === 'function' ? source() : source;
}

function difference(from: Float64Array, less: Float64Array): Float64Array {
  const result = new Float64Array(from.length);
  for (let row = 0; row < result.length; row++) result[row] = from[row]! - less[row]!;
  return result;
}

const NONE = -1;

/**
 * Returns, for every entry of `tasks.dependencies`, the row of the run that made the result. This is the latest row of
 * the dependency's key before the dependent row. If no earlier row exists, because a file joins several recordings, it
 * is the first later row. Runs without a result are ignored. Cost: two passes over rows and edges, and 4 bytes for each
 * of `keyCount` keys.
 */
function latestRows(tasks: TaskRows, keyCount: number): Int32Array {
  const { key, state, dependencies, dependencyOffsets } = tasks;
  const rows = new Int32Array(dependencies.length).fill(NONE);
  const known = new Int32Array(keyCount).fill(NONE);
  let missing = 0;
  for (let row = 0; row < tasks.length; row++) {
    for (let edge = dependencyOffsets[row]!; edge < dependencyOffsets[row + 1]!; edge++) {
      rows[edge] = known[dependencies[edge]!]!;
      if (rows[edge] === NONE) missing++;
    }
    if (state[row] === 0) known[key[row]!] = row;
  }
  if (missing === 0) return rows;
  known.fill(NONE);
  for (let row = tasks.length - 1; row >= 0; row--) {
    for (let edge = dependencyOffsets[row]!; edge < dependencyOffsets[row + 1]!; edge++) {
      if (rows[edge] === NONE) rows[edge] = known[dependencies[edge]!]!;
    }
    if (state[row] === 0) known[key[row]!] = row;
  }
  return rows;
}
