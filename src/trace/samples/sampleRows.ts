// Builds the tables `frames` and `samples` row by row, for live traces and readers.

import type { Reported } from '../../protocol/traceSchema.js';
import type { StringTable } from '../stringTable.js';
import { TableBuilder } from '../tableRows.js';
import { type FrameRows, type SampleRows, textOf } from '../trace.js';
import type { FrameFacts } from './frameIds.js';

/** A row of the table `samples` with texts instead of ids, and with the id of the innermost frame. */
export type SampleFacts = Reported<'samples'>;

/** Limit for frames (~10 MB with their texts). A frame beyond it is counted as its caller. */
const MAX_FRAMES = 100_000;

/** Builds a table of frames. A frame that is added twice has one row. */
export class FrameBuilder {
  readonly #strings: StringTable;
  readonly #rows = new Map<number, number>();
  readonly #table = new TableBuilder('frames');

  /** Interns texts in `strings`. */
  constructor(strings: StringTable) {
    this.#strings = strings;
  }

  get length(): number {
    return this.#table.length;
  }

  /** Returns the row of a frame by its id, or -1 if the frame was not added. */
  rowOf(id: number): number {
    return this.#rows.get(id) ?? -1;
  }

  /** Adds a frame and returns its row. Add the caller first. */
  add({ id, parent, functionName, file, line }: FrameFacts): number {
    const known = this.#rows.get(id);
    if (known !== undefined) return known;
    return this.addRow(
      id,
      parent,
      this.#strings.internString(functionName),
      this.#strings.internString(file),
      line,
    );
  }

  /** Like `add`, with ids of texts. */
  addRow(id: number, parent: number, functionName: number, file: number, line: number): number {
    const known = this.#rows.get(id);
    if (known !== undefined) return known;
    const caller = this.rowOf(parent);
    if (this.length >= MAX_FRAMES) {
      this.#rows.set(id, caller);
      return caller;
    }
    const row = this.length;
    this.#rows.set(id, row);
    this.#table.add({ id, parent: caller, functionName, file, line });
    return row;
  }

  build(): FrameRows {
    return this.#table.build();
  }
}

/** Returns row `row` of a table of samples with texts and the id of its frame. */
export function sampleFacts(
  samples: SampleRows,
  row: number,
  strings: StringTable,
  frames: FrameRows,
): SampleFacts {
  const frame = samples.frame[row]!;
  return {
    time: samples.time[row]!,
    worker: samples.worker[row]!,
    thread: samples.thread[row]!,
    task: samples.task[row]!,
    prefix: textOf(strings, samples.prefix[row]),
    span: textOf(strings, samples.span[row]),
    frame: frame < 0 ? -1 : frames.id[frame]!,
    line: samples.line[row]!,
    count: samples.count[row]!,
    interval: samples.interval[row]!,
  };
}

export function frameFactsAt(frames: FrameRows, row: number, strings: StringTable): FrameFacts {
  const parent = frames.parent[row]!;
  return {
    id: frames.id[row]!,
    parent: parent < 0 ? -1 : frames.id[parent]!,
    functionName: textOf(strings, frames.functionName[row]),
    file: textOf(strings, frames.file[row]),
    line: frames.line[row]!,
  };
}
