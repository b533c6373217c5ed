// The frame of DASF's files: records of an 8-byte big-endian length and a msgpack map, one after the other. Files come in
// chunks; a torn end is normal (a recorder was killed), and after a damaged stretch reading goes on at the next record.

/** No event is as large: a length beyond it is damage, not a reason to wait for more bytes. */
const MAX_RECORD = 1 << 28;
/** The length, and of the map the header and the first key, `name`. */
const HEAD = 14;
const HEADER = 8;

export interface RecordSink {
  /** A whole record, `bytes[start .. end)`. Returns what is wrong with it, or undefined. */
  record(start: number, end: number): string | undefined;
  /** `size` bytes from `start` on were left out. */
  damage(start: number, size: number, reason: string): void;
}

/** Whether bytes look like DASF's: nothing at all, or the beginning of a record whose first field is the event's name. */
export function looksLikeDasf(bytes: Uint8Array): boolean {
  return bytes.length === 0 || (bytes.length >= HEAD && recordStartsAt(bytes, 0, bytes.length));
}

/**
 * Cuts chunks into records. Feed `bytes[0 .. length)`, keep what it did not consume for the beginning of the next chunk,
 * and pass `last` with the end of the file. One pass; a damaged stretch costs another pass over it.
 */
export class RecordCutter {
  readonly #sink: RecordSink;
  /** Bytes left out so far of a stretch whose end is not in sight, and why. */
  #lost = 0;
  #reason = '';

  constructor(sink: RecordSink) {
    this.#sink = sink;
  }

  /** Returns how many bytes are done with. */
  feed(bytes: Uint8Array, view: DataView, length: number, last: boolean): number {
    let at = 0;
    if (this.#lost > 0) at = this.#skipDamage(bytes, 0, length, last);
    while (this.#lost === 0 && at + HEADER <= length) {
      const size = view.getUint32(at) === 0 ? view.getUint32(at + 4) : MAX_RECORD + 1;
      if (size === 0 || size > MAX_RECORD) {
        at = this.#damaged(bytes, at, length, last, 'a record has an impossible length');
        continue;
      }
      const end = at + HEADER + size;
      if (end > length) {
        // Either the file was torn here, or the length is wrong and records follow.
        if (!last) return at;
        at = this.#damaged(bytes, at, length, last, 'the last record is not complete');
        continue;
      }
      const problem = this.#sink.record(at + HEADER, end);
      at = problem === undefined ? end : this.#damaged(bytes, at, length, last, problem);
    }
    if (last && this.#lost === 0 && at < length) {
      this.#sink.damage(at, length - at, 'the last record is not complete');
      at = length;
    }
    return at;
  }

  /** A record at `at` cannot be read: returns where to go on. */
  #damaged(bytes: Uint8Array, at: number, length: number, last: boolean, reason: string): number {
    this.#reason = reason;
    this.#lost = 1;
    return this.#skipDamage(bytes, at + 1, length, last);
  }

  #skipDamage(bytes: Uint8Array, from: number, length: number, last: boolean): number {
    let at = from;
    while (at + HEAD <= length && !recordStartsAt(bytes, at, length)) at++;
    const found = at + HEAD <= length;
    const stop = found ? at : last ? length : Math.max(from, at);
    this.#lost += stop - from;
    if (found || last) {
      this.#sink.damage(stop - this.#lost, this.#lost, this.#reason);
      this.#lost = 0;
    }
    return stop;
  }
}

/** Four zero bytes, a length, a map of at least one entry, the key `name`. */
function recordStartsAt(bytes: Uint8Array, at: number, length: number): boolean {
  return (
    at + HEAD <= length &&
    bytes[at + 9] === 0xa4 &&
    bytes[at + 10] === 0x6e &&
    bytes[at + 11] === 0x61 &&
    bytes[at + 12] === 0x6d &&
    bytes[at + 13] === 0x65 &&
    bytes[at + 8]! >= 0x81 &&
    bytes[at + 8]! <= 0x8f &&
    bytes[at] === 0 &&
    bytes[at + 1] === 0 &&
    bytes[at + 2] === 0 &&
    bytes[at + 3] === 0
  );
}
