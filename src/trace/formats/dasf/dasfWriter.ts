// Writes events as DASF does: an 8-byte big-endian length, then a msgpack map with fields in the order of DASF's
// dataclasses. Times are always floats, as in Python. The msgpack codec writes the arguments.
import { resizedUint8 } from '../../../base/resized.js';
import { CompleteEvent, type DasfEvent, type EventOrigin, InstantEvent } from './dasfEvents.js';
import { exactIntegers, floatNames, MAX_DEPTH, packValue, skipValue } from './msgpack.js';

const LENGTH = 8;
/** Most levels of an argument. The record, the event and its arguments are three more. */
const MOST_LEVELS = MAX_DEPTH - 3;

/** Encodes events as records, about 1.5 µs each. */
export class DasfEncoder {
  #bytes = new Uint8Array(1 << 16);
  #view = new DataView(this.#bytes.buffer);
  #length = 0;
  readonly #names = new Map<string, Uint8Array>();

  /** Bytes since the last `clear`. Valid until the next event. */
  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  clear(): void {
    this.#length = 0;
  }

  /** @throws RangeError for arguments that readers drop, because they are nested too deeply; errors of the codec */
  add(event: DasfEvent): void {
    const start = this.#length;
    this.#reserve(LENGTH + 1);
    this.#length += LENGTH;
    const extra = event instanceof CompleteEvent || event instanceof InstantEvent ? 1 : 0;
    this.#bytes[this.#length++] = 0x80 | (6 + extra);
    this.#text('name');
    this.#text(event.name);
    this.#text('timestamp');
    this.#float(event.timestamp);
    if (event instanceof CompleteEvent) {
      this.#text('duration');
      this.#float(event.duration);
    }
    this.#text('phase');
    this.#text(event.phase);
    if (event instanceof InstantEvent) {
      this.#text('scope');
      this.#text(event.scope);
    }
    this.#text('process_id');
    this.#origin(event.processId);
    this.#text('thread_id');
    this.#origin(event.threadId);
    this.#text('args');
    this.#args(event);
    const begin = start + LENGTH;
    if (
      Object.values(event.args).some((value) => typeof value === 'object') &&
      skipValue(this.#bytes, this.#view, begin, this.#length) !== this.#length
    )
      throw new RangeError(`Readers drop arguments that are nested deeper than ${MOST_LEVELS} levels.`);
    this.#view.setUint32(start, 0);
    this.#view.setUint32(start + 4, this.#length - start - LENGTH);
  }

  #args(event: DasfEvent): void {
    const args = exactIntegers(event.args);
    const floats = floatNames(event);
    if (floats === undefined || floats.size === 0) {
      this.#append(packValue(args));
      return;
    }
    const entries = Object.entries(args);
    const { length } = entries;
    this.#append(Uint8Array.from(length < 16 ? [0x80 | length] : [0xde, length >>> 8, length & 255]));
    for (const [name, value] of entries) {
      this.#text(name);
      if (floats.has(name)) this.#float(Number(value));
      else this.#append(packValue(value));
    }
  }

  #origin(value: EventOrigin): void {
    if (typeof value === 'string') this.#text(value);
    else this.#append(packValue(value));
  }

  #float(value: number): void {
    this.#reserve(9);
    this.#bytes[this.#length] = 0xcb;
    this.#view.setFloat64(this.#length + 1, value);
    this.#length += 9;
  }

  /** Appends a text. Frequent texts (names of fields, hosts and workers) are cached up to a limit. */
  #text(text: string): void {
    const known = this.#names.get(text);
    const bytes = known ?? packValue(text.toWellFormed());
    if (known === undefined && this.#names.size < MAX_KEPT) this.#names.set(text, Uint8Array.from(bytes));
    this.#append(bytes);
  }

  #append(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  #reserve(size: number): void {
    if (this.#length + size <= this.#bytes.length) return;
    this.#bytes = resizedUint8(this.#bytes, Math.max(this.#length + size, this.#bytes.length * 2));
    this.#view = new DataView(this.#bytes.buffer);
  }
}

const MAX_KEPT = 4096;
