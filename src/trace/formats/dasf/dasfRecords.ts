// Splits DASF's files into records: an 8-byte big-endian length and a msgpack map each. Files come in chunks. A
// truncated end is normal, because recorders are killed. After a damaged part, reading continues at the next record.

/** Limit for the size of a record. Only a damaged file states a larger length. */
const MAX_RECORD = 1 << 28;
/** Size of the length, the header of the map and its first key, `name`. */
const HEAD = 14;
const HEADER = 8;

export interface RecordSink {
  /** Receives the complete record `bytes[start .. end)`. Returns the reason why it is invalid, or undefined. */
  record(start: number, end: number): string | undefined;
  /** Receives a skipped part: `size` bytes from `start` on. */
  damage(start: number, size: number, reason: string): void;
}

/** Returns whether bytes may be a DASF file: empty, or the beginning of a record whose first field is the name. */
export function looksLikeDasf(bytes: Uint8Array): boolean {
  return bytes.length === 0 || (bytes.length >= HEAD && recordStartsAt(bytes, 0, bytes.length));
}

/**
 * Splits chunks into records. Feed `bytes[0 .. length)`, prepend the unconsumed bytes to the next chunk, and pass
 * `last` at the end of the file. Takes one pass, and a second one over damaged parts.
 */
export class RecordCutter {
  readonly #sink: RecordSink;
  /** Bytes skipped so far in an open damaged part, and the reason. */
  #lost = 0;
  #reason = '';

  constructor(sink: RecordSink) {
    this.#sink = sink;
  }

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
        // Either the file is truncated here, or the length is wrong and records follow.
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

  /** Starts a damaged part at `at`. Returns where reading continues. */
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

/** Returns whether a record may begin at `at`: four zero bytes, a length, a non-empty map, the key `name`. */
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
