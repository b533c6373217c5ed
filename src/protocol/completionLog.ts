// The completions of one run on one isolate, in memory that both sides share: a ring of columns with one writer (the
// isolate) and one reader (its host). A busy isolate cannot send messages, but what it has finished can be read here at
// any time. The host never has more tasks outstanding than the ring holds, so the writer never waits.

/** Where the header words are. */
const HEAD = 0;
const RUNNING = 1;
const CANCELLED = 2;
/** The last two words are a float64: when the task that runs began. */
const HEADER_WORDS = 6;
const SINCE_BYTES = 16;

/** Bytes per entry: id 4, kind 1, type 1 (padded to 4), number 8, received 8, start 8, stop 8, wait for a core 8. */
const ENTRY_BYTES = 48;

/** Columns of completions, copied out of the ring. `count` entries are valid. */
export interface CompletionColumns {
  count: number;
  readonly ids: Int32Array;
  /** See results.ts. */
  readonly kinds: Uint8Array;
  /** Index into RESULT_TYPES of results.ts. */
  readonly types: Uint8Array;
  /** The result, for the kind NUMBER; its bytes, for the kinds VALUE, STORED and PRIVATE. */
  readonly numbers: Float64Array;
  /** When the isolate took the batch in, seconds since the epoch. */
  readonly received: Float64Array;
  /** Seconds since the epoch, taken in the isolate. */
  readonly starts: Float64Array;
  readonly stops: Float64Array;
  /** Seconds between them in which the thread was ready to run and had no core; NaN: not known. */
  readonly coreWaits: Float64Array;
}

export function completionColumns(capacity: number): CompletionColumns {
  return {
    count: 0,
    ids: new Int32Array(capacity),
    kinds: new Uint8Array(capacity),
    types: new Uint8Array(capacity),
    numbers: new Float64Array(capacity),
    received: new Float64Array(capacity),
    starts: new Float64Array(capacity),
    stops: new Float64Array(capacity),
    coreWaits: new Float64Array(capacity),
  };
}

export class CompletionLog {
  readonly buffer: SharedArrayBuffer;
  readonly capacity: number;
  readonly #header: Int32Array;
  readonly #since: Float64Array;
  readonly #ids: Int32Array;
  readonly #kinds: Uint8Array;
  readonly #types: Uint8Array;
  readonly #numbers: Float64Array;
  readonly #received: Float64Array;
  readonly #starts: Float64Array;
  readonly #stops: Float64Array;
  readonly #coreWaits: Float64Array;
  /** Next entry to write, or to read: each side holds its own object over the same buffer. */
  #position = 0;

  /** A new log of at least `capacity` entries, or a view of one that the other side made. */
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
    let offset = 0;
    this.#header = new Int32Array(this.buffer, offset, HEADER_WORDS);
    this.#since = new Float64Array(this.buffer, SINCE_BYTES, 1);
    offset += 4 * HEADER_WORDS;
    this.#numbers = new Float64Array(this.buffer, offset, capacity);
    offset += 8 * capacity;
    this.#received = new Float64Array(this.buffer, offset, capacity);
    offset += 8 * capacity;
    this.#starts = new Float64Array(this.buffer, offset, capacity);
    offset += 8 * capacity;
    this.#stops = new Float64Array(this.buffer, offset, capacity);
    offset += 8 * capacity;
    this.#coreWaits = new Float64Array(this.buffer, offset, capacity);
    offset += 8 * capacity;
    this.#ids = new Int32Array(this.buffer, offset, capacity);
    offset += 4 * capacity;
    this.#kinds = new Uint8Array(this.buffer, offset, capacity);
    offset += capacity;
    this.#types = new Uint8Array(this.buffer, offset, capacity);
  }

  /**
   * Writer: one more task is finished, and none runs; visible to the reader at once. In this order: the reader closes runs whose
   * tasks have ended, and must not find one of them that seems to run.
   */
  write(
    id: number,
    kind: number,
    type: number,
    number: number,
    received: number,
    start: number,
    stop: number,
    coreWait: number,
  ): void {
    const at = this.#position++ & (this.capacity - 1);
    this.#ids[at] = id;
    this.#kinds[at] = kind;
    this.#types[at] = type;
    this.#numbers[at] = number;
    this.#received[at] = received;
    this.#starts[at] = start;
    this.#stops[at] = stop;
    this.#coreWaits[at] = coreWait;
    Atomics.store(this.#header, RUNNING, 0);
    Atomics.store(this.#header, HEAD, this.#position | 0);
  }

  /** Reader: how many entries can be read. */
  get available(): number {
    return (Atomics.load(this.#header, HEAD) - this.#position) | 0;
  }

  /**
   * Reader: copies out what is there, up to the size of the columns, and stops before the first entry that `accept`
   * refuses (its value has not arrived yet).
   */
  read(into: CompletionColumns, accept: (id: number, kind: number) => boolean): void {
    const count = Math.min(this.available, into.ids.length);
    let read = 0;
    for (; read < count; read++) {
      const at = (this.#position + read) & (this.capacity - 1);
      const id = this.#ids[at]!;
      const kind = this.#kinds[at]!;
      if (!accept(id, kind)) break;
      into.ids[read] = id;
      into.kinds[read] = kind;
      into.types[read] = this.#types[at]!;
      into.numbers[read] = this.#numbers[at]!;
      into.received[read] = this.#received[at]!;
      into.starts[read] = this.#starts[at]!;
      into.stops[read] = this.#stops[at]!;
      into.coreWaits[read] = this.#coreWaits[at]!;
    }
    this.#position = (this.#position + read) | 0;
    into.count = read;
  }

  /** The task that runs now, or -1. Written by the isolate before each task, read by anyone. */
  get running(): number {
    return Atomics.load(this.#header, RUNNING) - 1;
  }

  /** When it began, in seconds since the epoch; of -1, when the last one did. */
  get runningSince(): number {
    return this.#since[0]!;
  }

  /** Writer: this task begins. */
  begin(id: number, start: number): void {
    this.#since[0] = start;
    Atomics.store(this.#header, RUNNING, id + 1);
  }

  /** Set by the host: the isolate starts no more tasks of this run. */
  get cancelled(): boolean {
    return Atomics.load(this.#header, CANCELLED) === 1;
  }

  cancel(): void {
    Atomics.store(this.#header, CANCELLED, 1);
  }
}
