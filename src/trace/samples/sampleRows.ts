// Builds the tables `frames` and `samples` row by row, for live traces and readers.

import { type ProfileCycle, STACK_IDLE, STACK_RUNTIME } from '../../protocol/clusterObserver.js';
import type { Reported } from '../../protocol/traceSchema.js';
import type { StringTable } from '../stringTable.js';
import { TableBuilder } from '../tableRows.js';
import { type FrameRows, type SampleRows, textOf } from '../trace.js';

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

/** Id of the caller of an outermost frame. */
const NO_FRAME = -1;

/**
 * A row of the table `frames` with texts instead of ids. `parent` is the caller's id or NO_FRAME. Ids are below 2^53. A
 * collision among 100,000 frames has a probability of 1 in 2,000,000.
 */
export type FrameFacts = Reported<'frames'>;

/** Frame of samples in Longpole's or Node's own code, outside of tasks. */
const RUNTIME_FRAME = frameFacts(NO_FRAME, '(runtime)', '', 0);

/** Returns the frames of a cycle by stack node; callers come first. Cost: some 1 µs each. */
export function cycleFrames({ parents, names, files, lines }: ProfileCycle): FrameFacts[] {
  const frames: FrameFacts[] = [];
  for (const [node, parent] of parents.entries()) {
    const caller = frames[parent]?.id ?? NO_FRAME;
    frames.push(frameFacts(caller, names[node] ?? '', files[node] ?? '', lines[node]!));
  }
  return frames;
}

/** Returns the frame of a sample, or undefined if the thread was idle. */
export function frameOfSample(
  { stacks }: ProfileCycle,
  sample: number,
  frames: readonly FrameFacts[],
): FrameFacts | undefined {
  const stack = stacks[sample]!;
  if (stack === STACK_IDLE) return undefined;
  return stack === STACK_RUNTIME ? RUNTIME_FRAME : frames[stack];
}

function frameFacts(parent: number, functionName: string, file: string, line: number): FrameFacts {
  return { id: frameId(parent, functionName, file, line), parent, functionName, file, line };
}

/**
 * Returns 53 bits of two multiplicative hashes over the caller's id, the line and both texts. All recorders give a
 * frame the same id, so their tables can be merged.
 */
function frameId(parent: number, name: string, file: string, line: number): number {
  let a = Math.imul((parent % 2 ** 32) ^ line, 0x85ebca6b) | 0;
  let b = Math.imul(Math.floor(parent / 2 ** 32) ^ line, 0xc2b2ae35) | 0;
  // The lengths distinguish `ab` + `c` from `a` + `bc`.
  for (const text of [name, file]) {
    a = Math.imul(a ^ text.length, 0x9e3779b1);
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      a = Math.imul(a ^ code, 0x01000193);
      b = Math.imul(b ^ code, 0x5bd1e995);
      b ^= b >>> 15;
    }
  }
  a = Math.imul(a ^ (a >>> 16) ^ b, 0x7feb352d);
  b = Math.imul(b ^ (b >>> 13) ^ (a >>> 7), 0x846ca68b);
  return ((b ^ (b >>> 16)) & 0x1fffff) * 2 ** 32 + ((a ^ (a >>> 15)) >>> 0);
}
