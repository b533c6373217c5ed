// The tables `frames` and `samples` row by row: for the live trace and for readers.
import type { Reported } from '../../protocol/traceSchema.js';
import { Float64Column } from '../columns.js';
import { textOf } from '../names.js';
import type { StringTable } from '../stringTable.js';
import { TableBuilder } from '../tableRows.js';
import type { FrameRows, SampleRows } from '../trace.js';
import type { FrameFacts } from './frameIds.js';

/** A row of the table `samples` with texts for ids, and the number of the innermost frame. */
export type SampleFacts = Reported<'samples'>;

/** Frames that are kept apart at most (~10 MB with their texts); what lies beyond counts for its caller. */
const MAX_FRAMES = 100_000;

/** Frames by number. A frame that is added twice has one row. */
export class FrameBuilder {
  readonly #strings: StringTable;
  readonly #rows = new Map<number, number>();
  readonly #table = new TableBuilder('frames');
  readonly #ids = new Float64Column();

  /** Texts become ids of `strings`. */
  constructor(strings: StringTable) {
    this.#strings = strings;
  }

  get length(): number {
    return this.#ids.length;
  }

  /** The row of a frame by its number; -1 if nobody has told of it. */
  rowOf(id: number): number {
    return this.#rows.get(id) ?? -1;
  }

  idOf(row: number): number {
    return row < 0 ? -1 : this.#ids.values[row]!;
  }

  /** Its row. Callers come first. */
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

  /** As `add`, with texts as ids. */
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
    this.#ids.push(id);
    this.#table.add({ id, parent: caller, functionName, file, line });
    return row;
  }

  build(): FrameRows {
    return this.#table.build();
  }
}

/** Row `row` of a table of samples with texts, and the number of its frame. */
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

/** Row `row` of a table of frames with texts. */
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
