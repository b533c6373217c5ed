// Dictionary-encoded strings: every distinct string has a small id, and one buffer holds each string's UTF-8 bytes
// once. Readers intern the bytes of a file directly; a JavaScript string is created only for a text that is read.
import { resizedInt32, resizedUint8 } from '../base/resized.js';

const MIN_SLOTS = 1 << 10;
/** Bytes per call of the decoder. */
const PIECE = 1 << 26;
const decoder = new TextDecoder();

/** Decodes UTF-8. */
export function decodeText(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}

/**
 * Decodes the texts `[from .. to)`; text `i` is `bytes[offsets[i] .. offsets[i + 1])`. If all are ASCII, they are slices of
 * one decoded text, some 20 ns each instead of 300 ns.
 */
export function decodeTexts(offsets: Int32Array, bytes: Uint8Array, from: number, to: number): string[] {
  const begin = offsets[from]!;
  const size = offsets[to]! - begin;
  const all = decodeText(bytes.subarray(begin, begin + size));
  const isAscii = all.length === size;
  const texts = new Array<string>(to - from);
  for (let i = from; i < to; i++) {
    const [start, end] = [offsets[i]!, offsets[i + 1]!];
    texts[i - from] = isAscii
      ? all.slice(start - begin, end - begin)
      : decodeText(bytes.subarray(start, end));
  }
  return texts;
}

const encoder = new TextEncoder();
/** Shared buffer for encoding short strings. A new array for each string would cost more than the encoding. */
const scratch = new Uint8Array(1 << 10);
const scratchView = new DataView(scratch.buffer);

/** Assigns ids 0, 1, 2, … to strings in the order of first appearance. Interning costs about 1 ns per byte. */
export class StringTable implements Texts {
  #arena = new Uint8Array(1 << 14);
  #view = new DataView(this.#arena.buffer);
  #used = 0;
  /** Offset of each string in the buffer. The entry after the last string is the offset of the next one. */
  #starts: Int32Array = new Int32Array(MIN_SLOTS);
  #length = 0;
  /**
   * Hash table with open addressing. A slot has two words: the hash, and id + 1, or 0 if the slot is free. The number
   * of slots is a power of two; at most half are in use.
   */
  #slots: Int32Array = new Int32Array(MIN_SLOTS * 2);
  /** Strings that were decoded so far, by id. */
  #strings: (string | undefined)[] = [];
  /** Number of strings at the last `decodeAll`. */
  #allMade = 0;

  /** Number of distinct strings. */
  get length(): number {
    return this.#length;
  }

  /** Returns the id of the UTF-8 text `bytes[start .. end)`; `view` covers the same bytes. */
  intern(bytes: Uint8Array, view: DataView, start: number, end: number): number {
    const hash = hashOf(bytes, view, start, end);
    const slots = this.#slots;
    const mask = slots.length - 2;
    for (let slot = (hash << 1) & mask; ; slot = (slot + 2) & mask) {
      const entry = slots[slot + 1]!;
      if (entry === 0) return this.#add(slot, hash, bytes, start, end);
      if (slots[slot] === hash && this.equals(entry - 1, bytes, view, start, end)) return entry - 1;
    }
  }

  /** Returns the id of a JavaScript string. */
  internString(text: string): number {
    if (text.length * 3 <= scratch.length) {
      return this.intern(scratch, scratchView, 0, encoder.encodeInto(text, scratch).written);
    }
    const bytes = encoder.encode(text);
    return this.intern(bytes, new DataView(bytes.buffer), 0, bytes.length);
  }

  /** Returns an independent table with the same strings and ids. */
  copy(): StringTable {
    const copy = new StringTable();
    copy.#arena = this.#arena.slice();
    copy.#view = new DataView(copy.#arena.buffer);
    copy.#used = this.#used;
    copy.#starts = this.#starts.slice();
    copy.#length = this.#length;
    copy.#slots = this.#slots.slice();
    copy.#strings = this.#strings.slice();
    copy.#allMade = this.#allMade;
    return copy;
  }

  /** Returns all texts as one batch of bytes. Valid until the next string is interned. */
  batch(): { readonly offsets: Int32Array; readonly bytes: Uint8Array; readonly view: DataView } {
    return { offsets: this.#starts.subarray(0, this.#length + 1), bytes: this.#arena, view: this.#view };
  }

  /** Returns whether string `id` equals `bytes[start .. end)`. */
  equals(id: number, bytes: Uint8Array, view: DataView, start: number, end: number): boolean {
    let at = this.#starts[id]!;
    if (this.#starts[id + 1]! - at !== end - start) return false;
    const mine = this.#view;
    let i = start;
    for (; i + 4 <= end; i += 4, at += 4) {
      if (mine.getInt32(at, true) !== view.getInt32(i, true)) return false;
    }
    for (; i < end; i++, at++) if (this.#arena[at] !== bytes[i]) return false;
    return true;
  }

  get(id: number): string {
    const known = this.#strings[id];
    if (known !== undefined) return known;
    const text = decoder.decode(this.#arena.subarray(this.#starts[id]!, this.#starts[id + 1]!));
    this.#strings[id] = text;
    return text;
  }

  /** Decodes all strings. */
  decodeAll(): void {
    if (this.#allMade === this.#length) return;
    this.#allMade = this.#length;
    const parts: string[][] = [];
    for (let from = 0; from < this.#length; ) {
      // V8 limits strings to 2^29 characters.
      let to = from + 1;
      while (to < this.#length && this.#starts[to + 1]! - this.#starts[from]! <= PIECE) to++;
      parts.push(decodeTexts(this.#starts, this.#arena, from, to));
      from = to;
    }
    this.#strings = parts.length === 1 ? parts[0]! : parts.flat();
  }

  #add(slot: number, hash: number, bytes: Uint8Array, start: number, end: number): number {
    const id = this.#length++;
    const size = end - start;
    if (this.#used + size > this.#arena.length) this.#growArena(this.#used + size);
    const arena = this.#arena;
    let at = this.#used;
    for (let i = start; i < end; i++) arena[at++] = bytes[i]!;
    if (id + 1 >= this.#starts.length) this.#starts = resizedInt32(this.#starts, this.#starts.length * 2);
    this.#used = at;
    this.#starts[id + 1] = at;
    this.#slots[slot] = hash;
    this.#slots[slot + 1] = id + 1;
    if (this.#length * 4 > this.#slots.length) this.#rehash();
    return id;
  }

  #growArena(needed: number): void {
    this.#arena = resizedUint8(this.#arena, Math.max(needed, this.#arena.length * 2));
    this.#view = new DataView(this.#arena.buffer);
  }

  #rehash(): void {
    const old = this.#slots;
    const slots = new Int32Array(old.length * 4);
    const mask = slots.length - 2;
    for (let from = 0; from < old.length; from += 2) {
      if (old[from + 1] === 0) continue;
      let slot = (old[from]! << 1) & mask;
      while (slots[slot + 1] !== 0) slot = (slot + 2) & mask;
      slots[slot] = old[from]!;
      slots[slot + 1] = old[from + 1]!;
    }
    this.#slots = slots;
  }
}

/** Hashes four bytes per step. The shifts spread all bytes into the low bits, which select the slot. */
function hashOf(bytes: Uint8Array, view: DataView, start: number, end: number): number {
  let hash = end - start;
  let i = start;
  for (; i + 4 <= end; i += 4) {
    hash = Math.imul(hash ^ view.getInt32(i, true), 0x9e3779b1);
    hash ^= hash >>> 15;
  }
  for (; i < end; i++) hash = Math.imul(hash ^ bytes[i]!, 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return hash ^ (hash >>> 13);
}

export interface Texts {
  /** Number of texts; ids are 0 … length - 1. */
  readonly length: number;
  get(id: number): string;
  /** Decodes all texts, for callers that read most of them. */
  decodeAll(): void;
}
