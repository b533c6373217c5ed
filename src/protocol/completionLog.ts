// The completions of one run on one isolate, in memory that both sides share: a ring of columns with one writer (the
// isolate) and one reader (its host). A busy isolate cannot send messages, but the host can read its completions here
// at any time. The host never has more tasks outstanding than the ring holds, so the writer never waits.
import type { TaskRuns } from './clusterObserver.js';
import { isSeparate } from './resultKinds.js';
import type { TaskRun } from './taskRun.js';

/** Indices of the header words. */
const HEAD = 0;
const RUNNING = 1;
const CANCELLED = 2;
const TAIL = 3;
const RUNNING_BATCH = 4;
const AWAY = 5;
/** The last two words are a float64: the start time of the running task. */
const HEADER_WORDS = 8;
const SINCE_BYTES = 24;

const NO_SHAPE: readonly number[] = [];
/** Largest number of dimensions of a result's shape. */
export const MAX_DIMENSIONS = 4;

/**
 * Bytes per entry: id 4, batch 4, kind 1, type 1, dimensions 1 (padded to 4), number 8, received 8, start 8, stop 8, wait
 * for a core 8, times of secession and resumption and the wait 8 each, shape 32.
 */
const ENTRY_BYTES = 76 + 8 * MAX_DIMENSIONS;

/** Columns of completions, copied out of the ring. `count` entries are valid. `shapes` is empty if no entry has a shape. */
export interface CompletionColumns
  extends Required<
    Pick<TaskRuns, 'coreWaits' | 'seceded' | 'resumed' | 'waited' | 'dimensions' | 'shapes' | 'ids'>
  > {
  count: number;
  /** Batches of these runs of the tasks. A task that was cancelled and sent again has a run in each batch. */
  readonly batches: Int32Array;
  /** See results.ts. */
  readonly kinds: Uint8Array;
  /** Index into RESULT_TYPES of results.ts. */
  readonly types: Uint8Array;
  /** The result for kind NUMBER; its bytes for kinds VALUE, STORED and PRIVATE. */
  readonly numbers: Float64Array;
  /** Times at which the isolate received the batch, in seconds since the epoch. */
  readonly received: Float64Array;
  /** Seconds since the epoch, taken in the isolate. */
  readonly starts: Float64Array;
  readonly stops: Float64Array;
}

/** Memory of columns. */
interface Arrays {
  floats(length: number): Float64Array;
  integers(length: number): Int32Array;
  bytes(length: number): Uint8Array;
}

const OWN_ARRAYS: Arrays = {
  floats: (length) => new Float64Array(length),
  integers: (length) => new Int32Array(length),
  bytes: (length) => new Uint8Array(length),
};

export function completionColumns(capacity: number): CompletionColumns {
  const columns = columnsIn(OWN_ARRAYS, capacity);
  for (const column of [columns.seceded, columns.resumed, columns.waited]) column.fill(Number.NaN);
  return columns;
}

/** Makes the columns, the widest first, so that each begins at a multiple of its width. */
function columnsIn(arrays: Arrays, capacity: number): CompletionColumns {
  return {
    count: 0,
    numbers: arrays.floats(capacity),
    received: arrays.floats(capacity),
    starts: arrays.floats(capacity),
    stops: arrays.floats(capacity),
    coreWaits: arrays.floats(capacity),
    seceded: arrays.floats(capacity),
    resumed: arrays.floats(capacity),
    waited: arrays.floats(capacity),
    shapes: arrays.floats(MAX_DIMENSIONS * capacity),
    ids: arrays.integers(capacity),
    batches: arrays.integers(capacity),
    kinds: arrays.bytes(capacity),
    types: arrays.bytes(capacity),
    dimensions: arrays.bytes(capacity),
  };
}

export class CompletionLog {
  readonly buffer: SharedArrayBuffer;
  readonly capacity: number;
  readonly #header: Int32Array;
  readonly #since: Float64Array;
  readonly #ring: CompletionColumns;
  /** Next entry to write, or to read: each side holds its own object over the same buffer. */
  #position = 0;
  /** Writer: number of entries of which the reader was notified. */
  #notified = 0;

  /** Creates a log of at least `capacity` entries, or a view of a log from the other side. */
  constructor(from: number | SharedArrayBuffer) {
    if (typeof from === 'number') {
      let capacity = 16;
      while (capacity < from) capacity *= 2;
      this.buffer = new SharedArrayBuffer(4 * HEADER_WORDS + ENTRY_BYTES * capacity);
    } else {
      this.buffer = from;
    }
    const capacity = (this.buffer.byteLength - 4 * HEADER_WORDS) / ENTRY_BYTES;
    this.capacity = capacity;
    this.#header = new Int32Array(this.buffer, 0, HEADER_WORDS);
    this.#since = new Float64Array(this.buffer, SINCE_BYTES, 1);
    let offset = 4 * HEADER_WORDS;
    const take = (bytes: number): number => {
      const from = offset;
      offset += bytes;
      return from;
    };
    const { buffer } = this;
    const shared: Arrays = {
      floats: (length) => new Float64Array(buffer, take(8 * length), length),
      integers: (length) => new Int32Array(buffer, take(4 * length), length),
      bytes: (length) => new Uint8Array(buffer, take(length), length),
    };
    this.#ring = columnsIn(shared, capacity);
  }

  /**
   * Writer: publishes a finished task at once, and marks that none runs. In this order, because the reader closes
   * runs whose tasks have ended, and must not find one that seems to run.
   */
  write(ran: TaskRun, kind: number, type: number, number: number, shape: readonly number[] = NO_SHAPE): void {
    const ring = this.#ring;
    const at = this.#position++ & (this.capacity - 1);
    ring.ids[at] = ran.id;
    ring.batches[at] = ran.batch;
    ring.kinds[at] = kind;
    ring.types[at] = type;
    ring.numbers[at] = number;
    ring.received[at] = ran.received;
    ring.starts[at] = ran.start;
    ring.stops[at] = ran.stop;
    ring.coreWaits[at] = ran.coreWait;
    ring.seceded[at] = ran.seceded;
    ring.resumed[at] = ran.resumed;
    ring.waited[at] = ran.waited;
    ring.dimensions[at] = shape.length;
    for (let i = 0; i < shape.length; i++) ring.shapes[MAX_DIMENSIONS * at + i] = shape[i]!;
    this.leave(ran.id);
    Atomics.store(this.#header, HEAD, this.#position | 0);
  }

  /** Reader: number of readable entries. */
  get available(): number {
    return (Atomics.load(this.#header, HEAD) - this.#position) | 0;
  }

  /** Number of entries that this side has written or read so far, as a 32-bit integer. */
  get written(): number {
    return this.#position | 0;
  }

  /** Writer: returns whether there are entries of which the reader was not notified before, and counts them as notified. */
  notify(): boolean {
    const isNews = this.#notified !== this.#position;
    this.#notified = this.#position;
    return isNews;
  }

  /**
   * Reader: copies entries up to the size of the columns. Stops before the first entry whose value has not arrived. The
   * values of the first `covered` entries of the log have arrived.
   */
  read(into: CompletionColumns, covered: number): void {
    const count = Math.min(this.available, into.ids.length);
    const arrived = (covered - this.#position) | 0;
    const ring = this.#ring;
    let read = 0;
    for (; read < count; read++) {
      const at = (this.#position + read) & (this.capacity - 1);
      const kind = ring.kinds[at]!;
      if (read >= arrived && isSeparate(kind)) break;
      into.ids[read] = ring.ids[at]!;
      into.batches[read] = ring.batches[at]!;
      into.kinds[read] = kind;
      into.types[read] = ring.types[at]!;
      into.numbers[read] = ring.numbers[at]!;
      into.received[read] = ring.received[at]!;
      into.starts[read] = ring.starts[at]!;
      into.stops[read] = ring.stops[at]!;
      into.coreWaits[read] = ring.coreWaits[at]!;
      into.seceded[read] = ring.seceded[at]!;
      into.resumed[read] = ring.resumed[at]!;
      into.waited[read] = ring.waited[at]!;
      const dimensions = ring.dimensions[at]!;
      into.dimensions[read] = dimensions;
      for (let i = 0; i < dimensions; i++)
        into.shapes[MAX_DIMENSIONS * read + i] = ring.shapes[MAX_DIMENSIONS * at + i]!;
    }
    this.#position = (this.#position + read) | 0;
    Atomics.store(this.#header, TAIL, this.#position);
    into.count = read;
  }

  /** The running task, or -1. The isolate writes it before each task; both sides may read it. */
  get running(): number {
    return Atomics.load(this.#header, RUNNING) - 1;
  }

  /** The batch of the running task; the batch of the last task if none runs. */
  get runningBatch(): number {
    return Atomics.load(this.#header, RUNNING_BATCH);
  }

  /** Start of the running task in seconds since the epoch; for -1, the start of the last one. */
  get runningSince(): number {
    return this.#since[0]!;
  }

  /** Writer: records that this task starts. */
  begin(id: number, batch: number, start: number): void {
    this.#since[0] = start;
    this.#header[RUNNING_BATCH] = batch;
    Atomics.store(this.#header, RUNNING, id + 1);
  }

  /** Writer: number of entries that the reader has not read. */
  get unread(): number {
    return (this.#position - Atomics.load(this.#header, TAIL)) | 0;
  }

  /** Writer: records that this task does not run any more, unless another task has started meanwhile. */
  leave(id: number): void {
    if (Atomics.load(this.#header, RUNNING) === id + 1) Atomics.store(this.#header, RUNNING, 0);
  }

  /** Number of tasks that have left the slot of the thread and not ended. */
  get away(): number {
    return Atomics.load(this.#header, AWAY);
  }

  /** Writer: records that a task has left the slot (1), or that a task outside the slot has ended (-1). */
  countAway(by: 1 | -1): void {
    Atomics.add(this.#header, AWAY, by);
  }

  /** True once the host has asked the isolate to start no more tasks of this run. */
  get cancelled(): boolean {
    return Atomics.load(this.#header, CANCELLED) === 1;
  }

  cancel(): void {
    Atomics.store(this.#header, CANCELLED, 1);
  }

  /** Reader: prepares the log for another run. The previous run has ended, also at the writer. */
  reopen(): void {
    Atomics.store(this.#header, CANCELLED, 0);
    this.#position = Atomics.load(this.#header, HEAD);
    Atomics.store(this.#header, TAIL, this.#position);
  }
}
