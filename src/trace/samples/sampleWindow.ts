// The samples of a live trace: the newest as single rows, the older ones summed. No sample is lost.
import type { Encoded } from '../../protocol/traceSchema.js';
import { RowWindow } from '../live/rowWindow.js';
import type { StringTable } from '../stringTable.js';
import { joinRows, type RowPiece, TableBuilder } from '../tableRows.js';
import type { SampleRows } from '../trace.js';
import { FrameBuilder, type FrameFacts, type SampleFacts, sampleFacts } from './sampleRows.js';
import { SampleSums } from './sampleSums.js';

export class SampleWindow {
  readonly #names: StringTable;
  readonly frames: FrameBuilder;
  readonly #rows: RowWindow<TableBuilder<'samples'>>;
  readonly #sums = new SampleSums();
  #older: { readonly first: number; readonly rows: SampleRows } | undefined;

  /** Interns texts in `names`. Holds at least the newest `limit` samples as single rows. */
  constructor(limit: number, names: StringTable) {
    this.#names = names;
    this.frames = new FrameBuilder(names);
    this.#rows = new RowWindow(
      limit,
      () => new TableBuilder('samples'),
      (chunk) => this.#sumUp(chunk),
    );
  }

  get first(): number {
    return this.#rows.first;
  }

  get end(): number {
    return this.#rows.end;
  }

  addFrame(frame: FrameFacts): void {
    this.frames.add(frame);
  }

  /** Adds a sample whose frame was added before. */
  add(row: SampleFacts): void {
    this.#rows.next().add(encodedSample(row, this.#names, this.frames));
  }

  /**
   * Returns a function that joins rows `[from .. to)`, counted since the beginning, as they are now. If `from` is 0,
   * the sums of older samples come first.
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

function encodedSample(row: SampleFacts, strings: StringTable, frames: FrameBuilder): Encoded<'samples'> {
  const id = (text: string): number => (text === '' ? -1 : strings.internString(text));
  return { ...row, prefix: id(row.prefix), span: id(row.span), frame: frames.rowOf(row.frame) };
}

/** Returns the sums as rows, with their texts interned in `strings`. */
export function summedSamples(sums: SampleSums, strings: StringTable, frames: FrameBuilder): SampleRows {
  const builder = new TableBuilder('samples');
  for (const row of sums.rows()) builder.add(encodedSample(row, strings, frames));
  return builder.build();
}

export function wholeTable(rows: SampleRows): RowPiece<'samples'> {
  return { rows, from: 0, to: rows.length };
}
