// The columns of tasks in a snapshot of a live trace. Each column is made on first use, mostly in one pass over the
// batches of its rows.

import { Float64Column } from '../../base/columns.js';
import { getOrMake } from '../../base/lookUps.js';
import { DenseIds, dependencyRowsOf, type IdEdges } from '../idEdges.js';
import { inGroup, keyGroup } from '../keyGroup.js';
import { StringTable } from '../stringTable.js';
import { TaskColumns } from '../taskColumns.js';
import type { TraceComputation, WorkerRows } from '../trace.js';
import { unknownKey } from '../unknownKey.js';
import type { LiveComputation } from './liveComputations.js';
import { Joined } from './rowWindow.js';
import type { TaskChunk, TaskPiece } from './taskWindow.js';

export interface LiveTaskOptions {
  readonly pieces: readonly TaskPiece[];
  /** Ids of the names of result types, by their numbers in chunks. */
  readonly typeIds: Int32Array;
  /** Computations; the newest is the last. */
  readonly computations: readonly LiveComputation[];
  readonly workers: WorkerRows;
  readonly strings: StringTable;
  /** Returns the keys that other tables contain. */
  readonly otherKeys: () => Iterable<string>;
}

/** Receives a batch of rows: rows `[row .. row + to - from)` of the table are rows `[from .. to)` of the chunk. */
type EachBatch = (
  chunk: TaskChunk,
  from: number,
  to: number,
  row: number,
  computation: LiveComputation,
  worker: number,
  acknowledged: number,
) => void;

export class LiveTaskColumns {
  readonly rows: TaskColumns;
  readonly #options: LiveTaskOptions;
  readonly #joined: Joined<TaskChunk>;
  #denseIds: DenseIds | undefined;
  #frozen: readonly TraceComputation[] | undefined;
  #edges: IdEdges | undefined;
  #keyColumns:
    | { readonly keys: StringTable; readonly key: Int32Array; readonly group: Int32Array }
    | undefined;
  #dependencies: Int32Array | undefined;

  constructor(options: LiveTaskOptions) {
    this.#options = options;
    this.#joined = new Joined(options.pieces);
    this.rows = this.#makeRows();
  }

  /** State of the computations at the first use of this getter. */
  get computations(): readonly TraceComputation[] {
    this.#frozen ??= this.#options.computations.map((computation) => computation.freeze());
    return this.#frozen;
  }

  get #dense(): DenseIds {
    this.#denseIds ??= new DenseIds(this.#options.computations);
    return this.#denseIds;
  }

  /** All keys in the tables of the trace. */
  get keys(): StringTable {
    // Interns dependencies outside the window.
    this.#dependencyKeys();
    return this.#keyTable().keys;
  }

  #makeRows(): TaskColumns {
    const joined = this.#joined;
    const absent = ({ ids }: TaskChunk): Float64Array => new Float64Array(ids.length).fill(Number.NaN);
    const sources = {
      id: () => this.#numbers((chunk, i, computation) => computation.firstId + chunk.ids[i]!),
      key: () => this.#keyTable().key,
      group: () => this.#keyTable().group,
      prefix: () => this.#facts(({ page, slot }, local) => page.prefixAt(slot + local)),
      functionName: () => this.#facts(({ page, slot }, local) => page.functionAt(slot + local)),
      span: () => this.#facts(({ page, slot }, local) => page.spanAt(slot + local)),
      computation: () => this.#computationColumn(),
      worker: () => this.#workerColumn(),
      thread: () => joined.ids((chunk) => chunk.threads ?? new Int32Array(chunk.ids.length)),
      state: () => joined.bytes((chunk) => chunk.state),
      attempt: () => joined.bytes((chunk) => chunk.attempt),
      submitted: () => this.#numbers((_chunk, _i, computation) => computation.submitted),
      ready: () => joined.numbers((chunk) => chunk.ready),
      dispatched: () => joined.numbers((chunk) => chunk.dispatched),
      received: () => joined.numbers((chunk) => chunk.received),
      started: () => joined.numbers((chunk) => chunk.started),
      stopped: () => joined.numbers((chunk) => chunk.stopped),
      acknowledged: () => this.#acknowledgedColumn(),
      coreWait: () => joined.numbers((chunk) => chunk.coreWaits ?? absent(chunk)),
      seceded: () => joined.numbers((chunk) => chunk.seceded ?? absent(chunk)),
      resumed: () => joined.numbers((chunk) => chunk.resumed ?? absent(chunk)),
      waited: () => joined.numbers((chunk) => chunk.waited ?? absent(chunk)),
      nbytes: () => joined.numbers((chunk) => chunk.nbytes),
      resultType: () => this.#typeColumn(),
      dependencyOffsets: () => this.#idEdges().offsets,
      dependencies: () => this.#dependencyKeys(),
      dependencyIds: () => this.#idEdges().ids,
      dependencyRows: () => dependencyRowsOf(this.#idEdges(), this.rows, this.#dense),
      keyOf: (row: number) => this.#keyOf(row),
    };
    return new TaskColumns(joined.length, sources, this.#options.workers, () => this.keys);
  }

  #eachBatch(each: EachBatch): void {
    let row = 0;
    for (const { chunk, from, to } of this.#options.pieces) {
      for (const segment of chunk.segments(from, to)) {
        each(chunk, segment.from, segment.to, row, segment.computation, segment.worker, segment.acknowledged);
        row += segment.to - segment.from;
      }
    }
  }

  #numbers(of: (chunk: TaskChunk, i: number, computation: LiveComputation) => number): Float64Array {
    const column = new Float64Array(this.#joined.length);
    this.#eachBatch((chunk, from, to, row, computation) => {
      for (let i = from; i < to; i++) column[row + i - from] = of(chunk, i, computation);
    });
    return column;
  }

  #facts(of: (computation: LiveComputation, local: number) => number): Int32Array {
    const column = new Int32Array(this.#joined.length);
    this.#eachBatch((chunk, from, to, row, computation) => {
      for (let i = from; i < to; i++) column[row + i - from] = of(computation, chunk.ids[i]!);
    });
    return column;
  }

  #workerColumn(): Int32Array {
    const column = new Int32Array(this.#joined.length);
    this.#eachBatch((_chunk, from, to, row, _computation, worker) => {
      column.fill(worker, row, row + to - from);
    });
    return column;
  }

  #acknowledgedColumn(): Float64Array {
    const column = new Float64Array(this.#joined.length);
    this.#eachBatch((_chunk, from, to, row, _computation, _worker, acknowledged) => {
      column.fill(acknowledged, row, row + to - from);
    });
    return column;
  }

  #computationColumn(): Int32Array {
    const indices = new Map(this.#options.computations.map((computation, index) => [computation, index]));
    const column = new Int32Array(this.#joined.length);
    this.#eachBatch((_chunk, from, to, row, computation) => {
      column.fill(indices.get(computation) ?? -1, row, row + to - from);
    });
    return column;
  }

  #typeColumn(): Int32Array {
    const { typeIds } = this.#options;
    const column = new Int32Array(this.#joined.length);
    this.#eachBatch((chunk, from, to, row) => {
      for (let i = from; i < to; i++) {
        // A run without a result has no type; its number in the chunk is meaningless.
        column[row + i - from] = chunk.state[i] === 0 ? (typeIds[chunk.type[i]!] ?? -1) : -1;
      }
    });
    return column;
  }

  #keyTable(): { readonly keys: StringTable; readonly key: Int32Array; readonly group: Int32Array } {
    if (this.#keyColumns !== undefined) return this.#keyColumns;
    const { strings } = this.#options;
    const keys = new StringTable();
    const key = new Int32Array(this.#joined.length);
    const group = new Int32Array(this.#joined.length);
    const prefixGroups = new Map<number, number>();
    let [lastGroup, lastId] = ['', -1];
    this.#eachBatch((chunk, from, to, row, { page, slot }) => {
      for (let i = from; i < to; i++) {
        const at = slot + chunk.ids[i]!;
        const text = page.keyAt(at);
        key[row + i - from] = keys.internString(text);
        const prefix = page.prefixAt(at);
        if (lastId < 0 || !inGroup(text, lastGroup)) {
          const name = prefix < 0 ? '' : strings.get(prefix);
          const found = keyGroup(text, name);
          if (found === name) {
            group[row + i - from] = getOrMake(prefixGroups, prefix, () => keys.internString(name));
            continue;
          }
          [lastGroup, lastId] = [found, keys.internString(found)];
        }
        group[row + i - from] = lastId;
      }
    });
    for (const text of this.#options.otherKeys()) keys.internString(text);
    this.#keyColumns = { keys, key, group };
    return this.#keyColumns;
  }

  #idEdges(): IdEdges {
    if (this.#edges !== undefined) return this.#edges;
    const offsets = new Int32Array(this.#joined.length + 1);
    const ids = new Float64Column();
    this.#eachBatch((chunk, from, to, row, { page, slot }) => {
      for (let i = from; i < to; i++) {
        page.addDependencies(slot + chunk.ids[i]!, ids);
        offsets[row + i - from + 1] = ids.length;
      }
    });
    this.#edges = { offsets, ids: ids.take() };
    return this.#edges;
  }

  #dependencyKeys(): Int32Array {
    if (this.#dependencies !== undefined) return this.#dependencies;
    const { keys, key } = this.#keyTable();
    const { ids } = this.#idEdges();
    const rows = this.rows.dependencyRows;
    const { computations } = this.#options;
    this.#dependencies = Int32Array.from(rows, (row, edge) => {
      if (row >= 0) return key[row]!;
      const id = ids[edge]!;
      const computation = computations[this.#dense.rangeOf(id)];
      return keys.internString(
        computation === undefined
          ? unknownKey(id)
          : computation.page.keyAt(computation.slot + id - computation.firstId),
      );
    });
    return this.#dependencies;
  }

  #keyOf(row: number): string {
    let first = 0;
    for (const { chunk, from, to } of this.#options.pieces) {
      const at = from + row - first;
      if (at < to) {
        const [segment] = chunk.segments(at, at + 1);
        if (segment === undefined) break;
        const { page, slot } = segment.computation;
        return page.keyAt(slot + chunk.ids[at]!);
      }
      first += to - from;
    }
    return '';
  }
}
