// The columns of tasks in a recorded trace. Each is read from its stream on first use.
import { countedOffsets, groupedRows } from '../../base/groups.js';
import { once } from '../../base/lookUps.js';
import type { RecordedTable } from '../../protocol/traceSchema.js';
import type { ArrowStream } from '../formats/arrow/arrowDecoder.js';
import { unusableTrace } from '../formats/damage.js';
import type { TextBatch, TextColumn, TextLists } from '../formats/textColumns.js';
import { DenseIds } from '../idEdges.js';
import { StringTable, type Texts } from '../stringTable.js';
import { type TaskColumn, taskRows } from '../taskColumns.js';
import { type TaskRows, type TraceComputation, textOf, unknownKey, type WorkerRows } from '../trace.js';
import { decodedColumn, decodedRows } from './decodedRows.js';
import { EdgesByTask, idsOfDependencies, rowsOfDependencies } from './recordedEdges.js';
import { RecordedKeys } from './recordedKeys.js';

export type Streams = Readonly<Record<RecordedTable, ArrowStream>>;

/**
 * Limit for the number of task ids without a row or an edge. Arrays have an entry per id, and only a damaged file has
 * more unused ids than this.
 */
const SPARE_IDS = 2e7;

export class RecordedTasks {
  readonly rows: TaskRows;
  readonly #streams: Streams;
  readonly #strings: StringTable;
  readonly computations = once(() => this.#makeComputations());
  readonly #dense = once(() => this.#makeDense());
  readonly #edges = once(() => this.#makeEdges());
  readonly #ownKeys = once(() => this.#makeKeys());
  readonly #unknown = once(() => this.#makeUnknown());
  readonly #rowsOf = once(() => this.#makeRowsOf());

  constructor(streams: Streams, strings: StringTable, workers: WorkerRows) {
    this.#streams = streams;
    this.#strings = strings;
    this.rows = this.#makeRows(workers);
  }

  get keys(): Texts {
    this.#unknown();
    return this.#ownKeys().keys;
  }

  /** Keys of transfers, as ids of `keys`. */
  get transferKeys(): TextLists {
    return this.#ownKeys().transfers;
  }

  #makeRows(workers: WorkerRows): TaskRows {
    const { tasks } = this.#streams;
    const context = { strings: this.#strings, workers: workers.length };
    const sources = {
      id: () => this.#ids(),
      key: () => this.#ownKeys().keys.key,
      group: () =>
        this.#ownKeys().keys.addAll((table) => tasks.texts('group', table)) ??
        new Int32Array(tasks.length).fill(-1),
      computation: () => this.#computationColumn(),
      others: (column: TaskColumn) =>
        column.derived === true ? undefined : decodedColumn(tasks, column, context),
      dependencyOffsets: () => this.#edges().offsets,
      dependencies: () => this.#makeDependencies(),
      dependencyIds: () => this.#dependencyIds(),
      dependencyRows: () => this.#edges().values,
    };
    return taskRows(tasks.length, sources, workers, () => this.keys);
  }

  #makeKeys(): { keys: RecordedKeys; transfers: TextLists } {
    const { tasks, transfers } = this.#streams;
    const others = new StringTable();
    const lists = transfers.textLists('keys', others);
    const keys = new RecordedKeys(
      needed(tasks, tasks.textColumn('key'), NO_TEXTS, 'its tasks have no keys'),
      others,
    );
    return {
      keys,
      transfers: {
        offsets: lists?.offsets ?? new Int32Array(transfers.length + 1),
        ids: lists?.ids.map((id) => keys.others[id]!) ?? new Int32Array(0),
      },
    };
  }

  #computationColumn(): Int32Array {
    const { tasks, computations } = this.#streams;
    const numbers = computations.int32('number') ?? new Int32Array(0);
    const index = new Map(Array.from(numbers, (number, i) => [number, i]));
    const column = tasks.int32('computation') ?? new Int32Array(tasks.length).fill(-1);
    let [last, lastIndex] = [-1, -1];
    for (let row = 0; row < column.length; row++) {
      if (column[row] !== last) {
        last = column[row]!;
        lastIndex = index.get(last) ?? -1;
      }
      column[row] = lastIndex;
    }
    return column;
  }

  /** A live page needs only the starts of computations, at each update. What their tasks say is read on first use. */
  #makeComputations(): TraceComputation[] {
    const { computations } = this.#streams;
    const strings = new StringTable();
    const facts = decodedRows('computations', computations, { strings, workers: 0 });
    return Array.from(facts.number, (number, i) => {
      const ran = once(() => this.#rowsOfComputation(i));
      const stop = once(() => this.#lastAcknowledged(ran()));
      const keys = once(() => this.#keysOf(ran()));
      return {
        number,
        firstId: facts.first_id[i]!,
        size: facts.size[i]!,
        start: facts.submitted[i]!,
        prepared: facts.prepared[i]!,
        get stop() {
          return stop();
        },
        client: textOf(strings, facts.client[i]),
        code: textOf(strings, facts.code[i]),
        get keys() {
          return keys();
        },
      };
    });
  }

  #rowsOfComputation(index: number): Int32Array {
    const { offsets, rows } = this.#rowsOf();
    return rows.subarray(offsets[index], offsets[index + 1]);
  }

  #lastAcknowledged(rows: Int32Array): number {
    const { acknowledged } = this.rows;
    let stop = Number.NaN;
    for (const row of rows) if (!(acknowledged[row]! <= stop)) stop = acknowledged[row]!;
    return stop;
  }

  /** Returns the distinct keys of rows in the order of task ids. */
  #keysOf(rows: Int32Array): string[] {
    const { key, id } = this.rows;
    const { keys } = this.#ownKeys();
    const byId = new Map(Array.from(rows, (row) => [id[row]!, key[row]!]));
    return [...byId].sort(([a], [b]) => a - b).map(([, one]) => keys.get(one));
  }

  #makeRowsOf(): { offsets: Int32Array; rows: Int32Array } {
    const { computation } = this.rows;
    const count = this.#streams.computations.length;
    const offsets = countedOffsets(computation, count);
    return { offsets, rows: groupedRows(computation, offsets) };
  }

  #makeDense(): DenseIds {
    const { computations, tasks, dependencies } = this.#streams;
    const firstIds = computations.int64('first_id') ?? new Float64Array(0);
    const sizes = computations.int32('size') ?? new Int32Array(0);
    const ranges = Array.from(firstIds, (firstId, i) => ({ firstId, size: Math.max(0, sizes[i] ?? 0) }));
    const dense = new DenseIds(ranges.sort((a, b) => a.firstId - b.firstId));
    if (dense.length > SPARE_IDS + 64 * (tasks.length + dependencies.length))
      unusableTrace(computations.name, 'the sizes of its computations do not match the tasks');
    return dense;
  }

  /** Returns the dependencies by row. All runs of a task have the same dependencies. */
  #makeEdges(): { offsets: Int32Array; values: Int32Array } {
    return rowsOfDependencies(
      this.#edgesByTask(),
      this.#denseDependencies(),
      this.#denseIds(),
      this.rows.state,
    );
  }

  #edgesByTask(): EdgesByTask {
    const { dependencies } = this.#streams;
    const dense = this.#dense();
    const task = dependencies.mappedInt64('task', (id) => dense.of(id));
    return new EdgesByTask(needed(dependencies, task, NO_ROWS, 'its edges have no tasks'), dense.length);
  }

  #denseDependencies(): Int32Array {
    const { dependencies } = this.#streams;
    const dense = this.#dense();
    const dependency = dependencies.mappedInt64('dependency', (id) => dense.of(id));
    return dependency ?? new Int32Array(dependencies.length).fill(-1);
  }

  #denseIds(): Int32Array {
    const { tasks } = this.#streams;
    const dense = this.#dense();
    return needed(
      tasks,
      tasks.mappedInt64('id', (id) => dense.of(id)),
      NO_ROWS,
      'its tasks have no ids',
    );
  }

  #ids(): Float64Array {
    const { tasks } = this.#streams;
    return needed(tasks, tasks.int64('id'), new Float64Array(0), 'its tasks have no ids');
  }

  #dependencyIds(): Float64Array {
    const { dependencies } = this.#streams;
    const ids = dependencies.int64('dependency') ?? new Float64Array(dependencies.length).fill(-1);
    return idsOfDependencies(this.#edgesByTask(), ids, this.#denseIds());
  }

  #makeDependencies(): Int32Array {
    const { key } = this.#ownKeys().keys;
    const unknown = this.#unknown();
    const ids = unknown.size === 0 ? NO_IDS : this.#dependencyIds();
    return this.#edges().values.map((row, edge) => (row >= 0 ? key[row]! : unknown.get(ids[edge]!)!));
  }

  /** Returns keys by id for dependencies without a row: the run came later, gave no result, or is not in the trace. */
  #makeUnknown(): Map<number, number> {
    const unknown = new Map<number, number>();
    const rows = this.#edges().values;
    if (!rows.includes(-1)) return unknown;
    const ids = this.#dependencyIds();
    for (let edge = 0; edge < rows.length; edge++) if (rows[edge]! < 0) unknown.set(ids[edge]!, -1);
    const { keys } = this.#ownKeys();
    for (const [row, id] of this.#ids().entries()) if (unknown.has(id)) unknown.set(id, keys.key[row]!);
    for (const [id, key] of unknown) if (key < 0) unknown.set(id, keys.add(unknownKey(id)));
    return unknown;
  }
}

const NO_IDS = new Float64Array(0);
const NO_ROWS = new Int32Array(0);
const NO_TEXTS: TextColumn = {
  firstRows: new Int32Array(1),
  read: (): TextBatch => ({
    offsets: new Int32Array(1),
    bytes: new Uint8Array(0),
    view: new DataView(new ArrayBuffer(0)),
  }),
};

/** Returns a required column. If it is missing, throws unless the table has no rows. */
function needed<T>(stream: ArrowStream, column: T | undefined, empty: T, what: string): T {
  return column ?? (stream.length === 0 ? empty : unusableTrace(stream.name, what));
}
