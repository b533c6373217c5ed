// The samples of a live trace: the newest one by one, the older summed up. No sample is lost.
import { RowWindow } from '../live/rowWindow.js';
import type { StringTable } from '../stringTable.js';
import type { SampleRows } from '../trace.js';
import type { FrameFacts } from './frameIds.js';
import { FrameBuilder, SampleBuilder, type SampleFacts, sampleFacts } from './sampleRows.js';
import { SampleSums } from './sampleSums.js';

export class SampleWindow {
  readonly #names: StringTable;
  readonly frames: FrameBuilder;
  readonly #rows: RowWindow<SampleBuilder>;
  readonly #sums: SampleSums;
  /** What the sums were when they were asked for last. */
  #older: { readonly first: number; readonly rows: SampleRows } | undefined;

  /** Texts become ids of `names`. Holds at least `limit` rows one by one once there are so many. */
  constructor(limit: number, names: StringTable, sums: SampleSums = new SampleSums()) {
    this.#names = names;
    this.#sums = sums;
    this.frames = new FrameBuilder(names);
    this.#rows = new RowWindow(
      limit,
      () => new SampleBuilder(),
      (chunk) => this.#sumUp(chunk),
    );
  }

  /** Rows that are summed up. */
  get first(): number {
    return this.#rows.first;
  }

  get end(): number {
    return this.#rows.end;
  }

  addFrame(frame: FrameFacts): void {
    this.frames.add(frame);
  }

  /** Its frame was added before. */
  add(row: SampleFacts): void {
    this.#rows.next().add(row, this.#id(row.prefix), this.#id(row.span), this.frames.rowOf(row.frame));
  }

  /**
   * Rows `[from .. to)` counted since the beginning; from the beginning on with the sums of those that are older. They are
   * those of now, and are joined when the function that it returns is called.
   */
  rows(from: number, to: number): () => SampleRows {
    const older = from === 0 && this.first > 0 ? [this.#olderRows()] : [];
    const pieces = this.#rows.pieces(from, to);
    return () =>
      joinedSamples([
        ...older,
        ...pieces.map(({ chunk, from: start, to: end }) => cut(chunk.build(), start, end)),
      ]);
  }

  #olderRows(): SampleRows {
    if (this.#older?.first !== this.first)
      this.#older = { first: this.first, rows: summedSamples(this.#sums, this.#names, this.frames) };
    return this.#older.rows;
  }

  #sumUp(chunk: SampleBuilder): void {
    const rows = chunk.build();
    const frames = this.frames.build();
    for (let row = 0; row < rows.length; row++) this.#sums.add(sampleFacts(rows, row, this.#names, frames));
  }

  #id(text: string): number {
    return idIn(this.#names, text);
  }
}

function idIn(strings: StringTable, text: string): number {
  return text === '' ? -1 : strings.internString(text);
}

/** The sums as rows; their texts become ids of `strings`. */
export function summedSamples(sums: SampleSums, strings: StringTable, frames: FrameBuilder): SampleRows {
  const builder = new SampleBuilder();
  for (const row of sums.rows())
    builder.add(row, idIn(strings, row.prefix), idIn(strings, row.span), frames.rowOf(row.frame));
  return builder.build();
}

function cut(rows: SampleRows, from: number, to: number): SampleRows {
  return sampleColumns(
    to - from,
    (name) => rows[name].subarray(from, to),
    (name) => rows[name].subarray(from, to),
  );
}

/** Tables of samples, one behind the other. Without a copy where there is one. */
export function joinedSamples(parts: readonly SampleRows[]): SampleRows {
  const [only] = parts;
  if (only !== undefined && parts.length === 1) return only;
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const fill = <A extends Float64Array | Int32Array>(
    all: A,
    copy: (all: A, part: SampleRows, at: number) => void,
  ): A => {
    let at = 0;
    for (const part of parts) {
      copy(all, part, at);
      at += part.length;
    }
    return all;
  };
  return sampleColumns(
    length,
    (name) => fill(new Float64Array(length), (all, part, at) => all.set(part[name], at)),
    (name) => fill(new Int32Array(length), (all, part, at) => all.set(part[name], at)),
  );
}

type NumberColumn = 'time' | 'task' | 'count' | 'interval';
type IdColumn = Exclude<keyof SampleRows, NumberColumn | 'length'>;

function sampleColumns(
  length: number,
  numbers: (name: NumberColumn) => Float64Array,
  ids: (name: IdColumn) => Int32Array,
): SampleRows {
  return {
    length,
    time: numbers('time'),
    worker: ids('worker'),
    thread: ids('thread'),
    task: numbers('task'),
    prefix: ids('prefix'),
    span: ids('span'),
    frame: ids('frame'),
    line: ids('line'),
    count: numbers('count'),
    interval: numbers('interval'),
  };
}
