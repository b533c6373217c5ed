// The columns of tasks. A source gives an array, or a function that makes the array on first use. A column that the
// source lacks is derived from other columns, or absent.
import { getOrMake } from '../base/lookUps.js';
import { MEMORY_TYPES } from '../protocol/schemaTypes.js';
import type { Texts } from './stringTable.js';
import { absentColumn, type ColumnArray, isColumn, type MemoryColumn, memoryColumns } from './tableRows.js';
import type { TaskRows, WorkerRows } from './trace.js';

/** A value, or a function that makes the value on first use. */
type Lazy<T> = T | (() => T);

/** Times of a run besides `stopped`, under these names also in files. */
export const RUN_TIMES = [
  ...(['submitted', 'ready', 'dispatched', 'received', 'started', 'acknowledged'] as const),
  ...(['seceded', 'resumed', 'waited'] as const),
] as const;

type Column = Exclude<keyof TaskRows, 'length' | 'keyOf'>;
type NeededColumn = 'key' | 'dependencyOffsets' | 'dependencies';
/** What a source of columns needs to know of one. */
export type TaskColumn = Pick<MemoryColumn, 'name' | 'title' | 'kind' | 'among' | 'derived'>;

/** Sources of the columns. Only keys and edges are required. */
export type TaskSources = {
  readonly [K in Exclude<Column, NeededColumn>]?: Lazy<TaskRows[K]> | undefined;
} & { readonly [K in NeededColumn]: Lazy<TaskRows[K]> } & {
  /** Returns the key of a row. Default: the text of `key` in `keys`. */
  readonly keyOf?: (row: number) => string;
  /** Makes the columns that are not listed, if the source has them. */
  readonly others?: (column: TaskColumn) => ColumnArray | undefined;
};

/** The parts of a trace from which columns are derived. */
interface Origin {
  readonly sources: TaskSources;
  readonly workers: WorkerRows;
  readonly keys: () => Texts;
}

type Derive<T extends ColumnArray> = (tasks: TaskRows, origin: Origin) => T;

/** Columns that follow from others if the source lacks them. */
const DERIVED: Readonly<Record<string, Derive<ColumnArray>>> = {
  id: ({ key }) => Float64Array.from(key),
  prefix: ({ functionName }) => functionName,
  group: ({ prefix }) => prefix,
  host: ({ worker }, { workers }) => worker.map((one) => (one < 0 ? -1 : workers.host[one]!)),
  attempt: ({ length }) => new Uint8Array(length).fill(1),
  started: ({ stopped, duration }) => difference(stopped, duration),
  duration: durations,
  dependencyIds: idsOfDependencies,
  dependencyRows: (tasks, { keys }) => latestRows(tasks, keys().length),
  dependentOffsets: ({ length }) => new Int32Array(length + 1),
  dependents: () => new Int32Array(0),
} satisfies { readonly [K in Column]?: Derive<TaskRows[K]> };

const EDGES: readonly Column[] = [
  ...(['dependencyOffsets', 'dependencies', 'dependencyIds', 'dependencyRows'] as const),
  ...(['dependentOffsets', 'dependents'] as const),
];
const COLUMNS: readonly TaskColumn[] = [
  ...memoryColumns('tasks'),
  ...EDGES.map((name) => ({ name, title: name, kind: 'key', derived: true }) as const),
];

/**
 * Holds the columns. The getter of each fills a place of a packed array on first use. V8 inlines such a getter, so loops
 * may use `tasks.duration[row]`; a lookup by name would cost some 10 ns per access. Columns that replace their getter
 * take four times as long, because every trace then has a shape of its own. All absent columns of a table share one array
 * of each type.
 */
class TaskColumns {
  readonly length: number;
  readonly #origin: Origin;
  readonly #made = COLUMNS.map((): ColumnArray | undefined => undefined);
  readonly #absent = new Map<string, ColumnArray>();

  static {
    for (const [at, column] of COLUMNS.entries())
      Object.defineProperty(TaskColumns.prototype, column.name, {
        get(this: TaskColumns): ColumnArray {
          return this.#made[at] ?? this.#make(at, column);
        },
      });
  }

  constructor(length: number, origin: Origin) {
    this.length = length;
    this.#origin = origin;
  }

  keyOf(row: number): string {
    const { sources, keys } = this.#origin;
    return sources.keyOf?.(row) ?? keys().get(asRows(this).key[row]!);
  }

  #make(at: number, column: TaskColumn): ColumnArray {
    const source: unknown = Reflect.get(this.#origin.sources, column.name);
    const given: unknown = typeof source === 'function' ? source() : source;
    const made = isColumn(given) ? given : this.#lacking(column);
    this.#made[at] = made;
    return made;
  }

  #lacking(column: TaskColumn): ColumnArray {
    const { name, kind } = column;
    return (
      this.#origin.sources.others?.(column) ??
      DERIVED[name]?.(asRows(this), this.#origin) ??
      getOrMake(this.#absent, MEMORY_TYPES[kind], () => absentColumn(kind, this.length))
    );
  }
}

/** The compiler does not see the getters. */
function asRows(columns: TaskColumns): TaskRows;
function asRows(columns: object): object {
  return columns;
}

export function taskRows(
  length: number,
  sources: TaskSources,
  workers: WorkerRows,
  keys: () => Texts,
): TaskRows {
  return asRows(new TaskColumns(length, { sources, workers, keys }));
}

/** Without recorded ids, the id of a task's key is the id of the task. */
function idsOfDependencies(tasks: TaskRows, { sources }: Origin): Float64Array {
  if (sources.id === undefined) return Float64Array.from(tasks.dependencies);
  const { id } = tasks;
  return Float64Array.from(tasks.dependencyRows, (row) => (row < 0 ? -1 : id[row]!));
}

function durations({ started, stopped, waited }: TaskRows): Float64Array {
  const seconds = difference(stopped, started);
  for (let row = 0; row < seconds.length; row++) seconds[row]! -= waited[row]! || 0;
  return seconds;
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
