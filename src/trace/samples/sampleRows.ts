// Builders of the tables `frames` and `samples`, row by row: for the live trace and for readers.
import { Float64Column, Int32Column } from '../columns.js';
import type { StringTable } from '../stringTable.js';
import type { FrameRows, SampleRows } from '../trace.js';
import type { FrameFacts } from './frameIds.js';

/** A row of the table `samples`, with texts for ids. */
export interface SampleFacts {
  readonly time: number;
  /** Index of the worker; -1: the scheduler. */
  readonly worker: number;
  readonly thread: number;
  /** `firstId + id`; -1: none, or several. */
  readonly task: number;
  readonly prefix: string;
  /** Names joined by `/`. */
  readonly span: string;
  /** Number of the innermost frame. */
  readonly frame: number;
  /** The line that ran, from 1; 0: not known. */
  readonly line: number;
  /** Samples that the row stands for. */
  readonly count: number;
  /** Seconds between two samples. */
  readonly interval: number;
}

/** Frames that are kept apart at most (~10 MB with their texts); what lies beyond counts for its caller. */
const MAX_FRAMES = 100_000;

/** Frames by number. A frame that is added twice has one row. */
export class FrameBuilder {
  readonly #strings: StringTable;
  readonly #rows = new Map<number, number>();
  readonly #id = new Float64Column();
  readonly #parent = new Int32Column();
  readonly #functionName = new Int32Column();
  readonly #file = new Int32Column();
  readonly #line = new Int32Column();

  /** Texts become ids of `strings`. */
  constructor(strings: StringTable) {
    this.#strings = strings;
  }

  get length(): number {
    return this.#id.length;
  }

  /** The row of a frame by its number; -1 if nobody has told of it. */
  rowOf(id: number): number {
    return this.#rows.get(id) ?? -1;
  }

  idOf(row: number): number {
    return row < 0 ? -1 : this.#id.values[row]!;
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
    this.#id.push(id);
    this.#parent.push(caller);
    this.#functionName.push(functionName);
    this.#file.push(file);
    this.#line.push(line);
    return row;
  }

  build(): FrameRows {
    return {
      length: this.length,
      id: this.#id.take(),
      parent: this.#parent.take(),
      functionName: this.#functionName.take(),
      file: this.#file.take(),
      line: this.#line.take(),
    };
  }
}

export class SampleBuilder {
  readonly #numbers = {
    time: new Float64Column(),
    task: new Float64Column(),
    count: new Float64Column(),
    interval: new Float64Column(),
  };
  readonly #ids = {
    worker: new Int32Column(),
    thread: new Int32Column(),
    prefix: new Int32Column(),
    span: new Int32Column(),
    frame: new Int32Column(),
    line: new Int32Column(),
  };

  get length(): number {
    return this.#numbers.time.length;
  }

  /** `frame` is a row of the table `frames`. */
  add(row: SampleFacts, prefix: number, span: number, frame: number): void {
    this.#numbers.time.push(row.time);
    this.#numbers.task.push(row.task);
    this.#numbers.count.push(row.count);
    this.#numbers.interval.push(row.interval);
    this.#ids.worker.push(row.worker);
    this.#ids.thread.push(row.thread);
    this.#ids.prefix.push(prefix);
    this.#ids.span.push(span);
    this.#ids.frame.push(frame);
    this.#ids.line.push(row.line);
  }

  build(): SampleRows {
    const { time, task, count, interval } = this.#numbers;
    const { worker, thread, prefix, span, frame, line } = this.#ids;
    return {
      length: this.length,
      time: time.take(),
      worker: worker.take(),
      thread: thread.take(),
      task: task.take(),
      prefix: prefix.take(),
      span: span.take(),
      frame: frame.take(),
      line: line.take(),
      count: count.take(),
      interval: interval.take(),
    };
  }
}

/** Row `row` of a table of samples with texts, and the number of its frame. */
export function sampleFacts(
  samples: SampleRows,
  row: number,
  strings: StringTable,
  frames: FrameRows,
): SampleFacts {
  const text = (id: number): string => (id < 0 ? '' : strings.get(id));
  const frame = samples.frame[row]!;
  return {
    time: samples.time[row]!,
    worker: samples.worker[row]!,
    thread: samples.thread[row]!,
    task: samples.task[row]!,
    prefix: text(samples.prefix[row]!),
    span: text(samples.span[row]!),
    frame: frame < 0 ? -1 : frames.id[frame]!,
    line: samples.line[row]!,
    count: samples.count[row]!,
    interval: samples.interval[row]!,
  };
}

/** Row `row` of a table of frames with texts. */
export function frameFactsAt(frames: FrameRows, row: number, strings: StringTable): FrameFacts {
  const text = (id: number): string => (id < 0 ? '' : strings.get(id));
  const parent = frames.parent[row]!;
  return {
    id: frames.id[row]!,
    parent: parent < 0 ? -1 : frames.id[parent]!,
    functionName: text(frames.functionName[row]!),
    file: text(frames.file[row]!),
    line: frames.line[row]!,
  };
}
