// The samples of a live trace: the newest one by one, the older summed up. No sample is lost.
import type { Encoded } from '../../protocol/traceSchema.js';
import { RowWindow } from '../live/rowWindow.js';
import type { StringTable } from '../stringTable.js';
import { joinRows, type RowPiece, TableBuilder } from '../tableRows.js';
import type { SampleRows } from '../trace.js';
import type { FrameFacts } from './frameIds.js';
import { FrameBuilder, type SampleFacts, sampleFacts } from './sampleRows.js';
import { SampleSums } from './sampleSums.js';

export class SampleWindow {
  readonly #names: StringTable;
  readonly frames: FrameBuilder;
  readonly #rows: RowWindow<TableBuilder<'samples'>>;
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
      () => new TableBuilder('samples'),
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
    this.#rows.next().add(encodedSample(row, this.#names, this.frames));
  }

  /**
   * Rows `[from .. to)` counted since the beginning; from the beginning on with the sums of those that are older. They are
   * those of now, and are joined when the function that it returns is called.
   */
  rows(from: number, to: number): () => SampleRows {
    const older = from === 0 && this.first > 0 ? [this.#olderRows()] : [];
    const pieces = this.#rows.pieces(from, to);
    return () =>
      joinRows('samples', [
        ...older.map(wholeTable),
        ...pieces.map(({ chunk, ...place }) => ({ rows: chunk.build(), ...place })),
      ]);
  }

  #olderRows(): SampleRows {
    if (this.#older?.first !== this.first)
      this.#older = { first: this.first, rows: summedSamples(this.#sums, this.#names, this.frames) };
    return this.#older.rows;
  }

  #sumUp(chunk: TableBuilder<'samples'>): void {
    const rows = chunk.build();
    const frames = this.frames.build();
    for (let row = 0; row < rows.length; row++) this.#sums.add(sampleFacts(rows, row, this.#names, frames));
  }
}

/** Texts become ids of `strings`. */
function encodedSample(row: SampleFacts, strings: StringTable, frames: FrameBuilder): Encoded<'samples'> {
  const id = (text: string): number => (text === '' ? -1 : strings.internString(text));
  return { ...row, prefix: id(row.prefix), span: id(row.span), frame: frames.rowOf(row.frame) };
}

/** The sums as rows; their texts become ids of `strings`. */
export function summedSamples(sums: SampleSums, strings: StringTable, frames: FrameBuilder): SampleRows {
  const builder = new TableBuilder('samples');
  for (const row of sums.rows()) builder.add(encodedSample(row, strings, frames));
  return builder.build();
}

/** Tables of samples, one behind the other. Without a copy where there is one. */
export function joinedSamples(parts: readonly SampleRows[]): SampleRows {
  return joinRows('samples', parts.map(wholeTable));
}

function wholeTable(rows: SampleRows): RowPiece<'samples'> {
  return { rows, from: 0, to: rows.length };
}
