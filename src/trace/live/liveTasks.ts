// The columns of tasks in a snapshot of a live trace. Each column is made on first use, mostly in one pass over the
// batches of its rows.

import { Float64Column } from '../../base/columns.js';
import { getOrMake, once, recordOf } from '../../base/lookUps.js';
import { DenseIds, dependencyRowsOf, type IdEdges } from '../idEdges.js';
import { inGroup, keyGroup } from '../keyGroup.js';
import { StringTable } from '../stringTable.js';
import { taskRows } from '../taskColumns.js';
import { type TaskRows, type TraceComputation, textOf, unknownKey, type WorkerRows } from '../trace.js';
import type { LiveComputation } from './liveComputations.js';
import { Joined } from './rowWindow.js';
import { MEASURED, RARE, type SegmentRows, type TaskChunk, type TaskPiece } from './taskWindow.js';

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

/** Receives a segment of a chunk; its first row is `row` of the table. */
type EachSegment = (chunk: TaskChunk, segment: SegmentRows, row: number) => void;

export class LiveTaskColumns {
  readonly rows: TaskRows;
  /** State of the computations at the first use. */
  readonly computations: () => readonly TraceComputation[];
  readonly #options: LiveTaskOptions;
  readonly #joined: Joined<TaskChunk>;
  readonly #dense: () => DenseIds;
  readonly #edges = once(() => this.#makeEdges());
  readonly #keys = once(() => this.#makeKeys());
  readonly #dependencies = once(() => this.#makeDependencies());

  constructor(options: LiveTaskOptions) {
    this.#options = options;
    this.#joined = new Joined(options.pieces);
    this.computations = once(() => options.computations.map((computation) => computation.freeze()));
    this.#dense = once(() => new DenseIds(options.computations));
    this.rows = this.#makeRows();
  }

  get keys(): StringTable {
    // Interns dependencies outside the window.
    this.#dependencies();
    return this.#keys().keys;
  }

  #makeRows(): TaskRows {
    const joined = this.#joined;
    const absent = ({ ids }: TaskChunk): Float64Array => new Float64Array(ids.length).fill(Number.NaN);
    const sources = {
      id: () => this.#numbers((chunk, i, computation) => computation.firstId + chunk.ids[i]!),
      key: () => this.#keys().key,
      group: () => this.#keys().group,
      prefix: () => this.#facts(({ page, slot }, local) => page.prefixAt(slot + local)),
      functionName: () => this.#facts(({ page, slot }, local) => page.functionAt(slot + local)),
      span: () => this.#facts(({ page, slot }, local) => page.spanAt(slot + local)),
      computation: () => this.#computationColumn(),
      worker: () => this.#constant(new Int32Array(joined.length), ({ worker }) => worker),
      thread: () => joined.ids((chunk) => chunk.threads ?? new Int32Array(chunk.ids.length)),
      state: () => joined.bytes((chunk) => chunk.state),
      attempt: () => joined.bytes((chunk) => chunk.attempt),
      submitted: () =>
        this.#constant(new Float64Array(joined.length), ({ computation }) => computation.submitted),
      ...recordOf(MEASURED, (name) => () => joined.numbers((chunk) => chunk[name])),
      acknowledged: () => this.#constant(new Float64Array(joined.length), ({ acknowledged }) => acknowledged),
      coreWait: () => joined.numbers((chunk) => chunk.coreWaits ?? absent(chunk)),
      ...recordOf(RARE, (name) => () => joined.numbers((chunk) => chunk[name] ?? absent(chunk))),
      resultType: () => this.#typeColumn(),
      dependencyOffsets: () => this.#edges().offsets,
      dependencies: () => this.#dependencies(),
      dependencyIds: () => this.#edges().ids,
      dependencyRows: () => dependencyRowsOf(this.#edges(), this.rows, this.#dense()),
      keyOf: (row: number) => this.#keyOf(row),
    };
    return taskRows(joined.length, sources, this.#options.workers, () => this.keys);
  }

  #eachSegment(each: EachSegment): void {
    let row = 0;
    for (const { chunk, from, to } of this.#options.pieces) {
      for (const segment of chunk.segments(from, to)) {
        each(chunk, segment, row);
        row += segment.to - segment.from;
      }
    }
  }

  #numbers(of: (chunk: TaskChunk, i: number, computation: LiveComputation) => number): Float64Array {
    const column = new Float64Array(this.#joined.length);
    this.#eachSegment((chunk, { from, to, computation }, row) => {
      for (let i = from; i < to; i++) column[row + i - from] = of(chunk, i, computation);
    });
    return column;
  }

  #facts(of: (computation: LiveComputation, local: number) => number): Int32Array {
    const column = new Int32Array(this.#joined.length);
    this.#eachSegment((chunk, { from, to, computation }, row) => {
      for (let i = from; i < to; i++) column[row + i - from] = of(computation, chunk.ids[i]!);
    });
    return column;
  }

  /** Fills a column with a value per segment. */
  #constant<A extends Int32Array | Float64Array>(column: A, of: (segment: SegmentRows) => number): A {
    this.#eachSegment((_chunk, segment, row) => {
      column.fill(of(segment), row, row + segment.to - segment.from);
    });
    return column;
  }

  #computationColumn(): Int32Array {
    const indices = new Map(this.#options.computations.map((computation, index) => [computation, index]));
    const column = new Int32Array(this.#joined.length);
    return this.#constant(column, ({ computation }) => indices.get(computation) ?? -1);
  }

  #typeColumn(): Int32Array {
    const { typeIds } = this.#options;
    // A run without a result has no type; its number in the chunk is meaningless.
    const types = this.#numbers(({ state, type }, i) => (state[i] === 0 ? (typeIds[type[i]!] ?? -1) : -1));
    return new Int32Array(types);
  }

  #makeKeys(): { readonly keys: StringTable; readonly key: Int32Array; readonly group: Int32Array } {
    const { strings } = this.#options;
    const keys = new StringTable();
    const key = new Int32Array(this.#joined.length);
    const group = new Int32Array(this.#joined.length);
    const prefixGroups = new Map<number, number>();
    let [lastGroup, lastId] = ['', -1];
    this.#eachSegment((chunk, { from, to, computation: { page, slot } }, row) => {
      for (let i = from; i < to; i++) {
        const at = slot + chunk.ids[i]!;
        const text = page.keyAt(at);
        key[row + i - from] = keys.internString(text);
        const prefix = page.prefixAt(at);
        if (lastId < 0 || !inGroup(text, lastGroup)) {
          const name = textOf(strings, prefix);
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
    return { keys, key, group };
  }

  #makeEdges(): IdEdges {
    const offsets = new Int32Array(this.#joined.length + 1);
    const ids = new Float64Column();
    this.#eachSegment((chunk, { from, to, computation: { page, slot } }, row) => {
      for (let i = from; i < to; i++) {
        page.addDependencies(slot + chunk.ids[i]!, ids);
        offsets[row + i - from + 1] = ids.length;
      }
    });
    return { offsets, ids: ids.take() };
  }

  #makeDependencies(): Int32Array {
    const { keys, key } = this.#keys();
    const { ids } = this.#edges();
    const { computations } = this.#options;
    return Int32Array.from(this.rows.dependencyRows, (row, edge) => {
      if (row >= 0) return key[row]!;
      const id = ids[edge]!;
      const computation = computations[this.#dense().rangeOf(id)];
      return keys.internString(
        computation === undefined
          ? unknownKey(id)
          : computation.page.keyAt(computation.slot + id - computation.firstId),
      );
    });
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
