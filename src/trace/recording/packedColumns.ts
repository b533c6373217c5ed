// Rearranges an Arrow stream so that it compresses well, and restores it. The length and the structure stay. Buffers of
// numbers are replaced by differences, split into one plane per byte. A time differs little from the time in the
// previous row or in the previous column; a general compressor does not find that by itself.

import { type BatchMessage, bufferPlace, memorySource } from '../formats/arrow/arrowMessages.js';
import { scanStream } from '../formats/arrow/arrowScan.js';

/** Reference of a difference: the previous row or the previous column. */
const FROM_ROW = 0;
const FROM_COLUMN = 1;

interface Place {
  readonly at: number;
  readonly count: number;
  readonly width: 4 | 8;
  /** Offset of the previous column of doubles, or -1. */
  readonly before: number;
}

/**
 * Packs an uncompressed stream of Longpole in place, without loss. Returns a byte for each buffer of numbers, which
 * `unpackColumns` needs. Cost: some 10 ns a number.
 */
export function packColumns(bytes: Uint8Array): Uint8Array {
  const places = placesOf(bytes);
  const ways = new Uint8Array(places.length);
  // From the end, because the reference of a buffer must still be unchanged.
  for (let i = places.length - 1; i >= 0; i--) {
    const place = places[i]!;
    const words = wordsAt(bytes, place.at, place.count * (place.width >> 2));
    if (place.width === 4) differences32(words);
    else {
      const before = place.before < 0 ? undefined : wordsAt(bytes, place.before, place.count * 2);
      const byRow = differences64(words, undefined);
      const byColumn = before === undefined ? undefined : differences64(words, before);
      const better = byColumn !== undefined && weight(byColumn) < weight(byRow) ? byColumn : byRow;
      ways[i] = better === byColumn ? FROM_COLUMN : FROM_ROW;
      words.set(better);
    }
    writePlanes(bytes, place, words);
  }
  return ways;
}

/** Unpacks a stream in place. Damaged bytes give arbitrary bytes of the same length. Cost: some 6 ns a number. */
export function unpackColumns(bytes: Uint8Array, ways: Uint8Array): void {
  for (const [i, place] of placesOf(bytes).entries()) {
    const { at, count, width, before } = place;
    const planes = bytes.slice(at, at + count * width);
    const result = bytes.subarray(at, at + count * width);
    if (width === 4) writeBytes(result, sums32(planes, count));
    else if (ways[i] === FROM_COLUMN && before >= 0)
      writeBytes(result, sums64(planes, count, wordsAt(bytes, before, count * 2)));
    else writeBytes(result, rowSums64(planes, count));
  }
}

function writeBytes(to: Uint8Array, words: Uint32Array): void {
  to.set(new Uint8Array(words.buffer, 0, to.length));
}

/**
 * Returns the buffers of numbers in the order of batches and columns. Reads only the metadata, which packing does not
 * change.
 */
function placesOf(bytes: Uint8Array): Place[] {
  const { fields, batches } = scanStream(memorySource(bytes));
  const places: Place[] = [];
  for (const batch of batches) {
    if (batch.compressed) continue;
    let before = -1;
    for (const { type, buffer } of fields.values()) {
      if (type === 'uint8') continue;
      const width = type === 'float64' || type === 'int64' ? 8 : 4;
      const place = placeOf(batch, buffer + 1, width, type === 'float64' ? before : -1, bytes.length);
      if (place !== undefined) places.push(place);
      if (type === 'float64') before = place?.at ?? -1;
      const inner = type === 'utf8-list' ? placeOf(batch, buffer + 3, 4, -1, bytes.length) : undefined;
      if (inner !== undefined) places.push(inner);
    }
  }
  return places;
}

function placeOf(
  message: BatchMessage,
  buffer: number,
  width: 4 | 8,
  before: number,
  length: number,
): Place | undefined {
  const found = bufferPlace(message, buffer);
  if (found === undefined || found.at + found.size > length) return undefined;
  const count = Math.floor(found.size / width);
  if (width === 8 && count !== message.rows) return undefined;
  return count === 0 ? undefined : { at: found.at, count, width, before };
}

/** Returns a copy, because a buffer may be unaligned. */
function wordsAt(bytes: Uint8Array, at: number, count: number): Uint32Array {
  const words = new Uint32Array(count);
  new Uint8Array(words.buffer).set(bytes.subarray(at, at + count * 4));
  return words;
}

/** Replaces values by zigzag-coded differences: small differences of either sign become small numbers. */
function differences32(words: Uint32Array): void {
  for (let i = words.length - 1; i > 0; i--) {
    const difference = (words[i]! - words[i - 1]!) | 0;
    words[i] = (difference << 1) ^ (difference >> 31);
  }
}

/** Returns 32-bit numbers from the planes of their differences to the previous row. */
function sums32(planes: Uint8Array, count: number): Uint32Array {
  const words = new Uint32Array(count);
  let sum = 0;
  for (let i = 0; i < count; i++) {
    const coded = wordAt(planes, i, count);
    sum = (i === 0 ? coded : sum + ((coded >>> 1) ^ -(coded & 1))) | 0;
    words[i] = sum;
  }
  return words;
}

/** Returns a 32-bit number from four planes of bytes. */
function wordAt(planes: Uint8Array, at: number, count: number): number {
  return (
    (planes[at]! |
      (planes[at + count]! << 8) |
      (planes[at + 2 * count]! << 16) |
      (planes[at + 3 * count]! << 24)) >>>
    0
  );
}

/** Returns the zigzag-coded differences of 64-bit numbers, low word first, to `column` or else to the previous row. */
function differences64(words: Uint32Array, column: Uint32Array | undefined): Uint32Array {
  const result = new Uint32Array(words.length);
  // The reference of a value is in `other`, `back` words earlier.
  const other = column ?? words;
  const back = column === undefined ? 2 : 0;
  for (let i = 0; i < words.length; i += 2) {
    const low = words[i]!;
    const fromLow = i < back ? 0 : other[i - back]!;
    const fromHigh = i < back ? 0 : other[i - back + 1]!;
    const differenceLow = (low - fromLow) >>> 0;
    const differenceHigh = (words[i + 1]! - fromHigh - (low < fromLow ? 1 : 0)) | 0;
    const sign = differenceHigh >> 31;
    result[i] = (differenceLow << 1) ^ sign;
    result[i + 1] = ((differenceHigh << 1) | (differenceLow >>> 31)) ^ sign;
  }
  return result;
}

/** Returns 64-bit numbers from the planes of their differences to the previous row. */
function rowSums64(planes: Uint8Array, count: number): Uint32Array {
  const words = new Uint32Array(count * 2);
  let low = 0;
  let high = 0;
  for (let i = 0; i < count; i++) {
    const codedLow = wordAt(planes, i, count);
    const codedHigh = wordAt(planes, i + 4 * count, count);
    const sign = -(codedLow & 1);
    const sum = low + ((((codedLow >>> 1) | (codedHigh << 31)) ^ sign) >>> 0);
    low = sum >>> 0;
    high = (high + ((codedHigh >>> 1) ^ sign) + (sum > 0xffffffff ? 1 : 0)) >>> 0;
    words[2 * i] = low;
    words[2 * i + 1] = high;
  }
  return words;
}

/** Returns 64-bit numbers from the planes of their differences to another column. */
function sums64(planes: Uint8Array, count: number, column: Uint32Array): Uint32Array {
  const words = new Uint32Array(count * 2);
  for (let i = 0; i < count; i++) {
    const low = wordAt(planes, i, count);
    const high = wordAt(planes, i + 4 * count, count);
    const sign = -(low & 1);
    const sum = column[2 * i]! + ((((low >>> 1) | (high << 31)) ^ sign) >>> 0);
    words[2 * i] = sum;
    words[2 * i + 1] = column[2 * i + 1]! + ((high >>> 1) ^ sign) + (sum > 0xffffffff ? 1 : 0);
  }
  return words;
}

/** Estimates the number of significant bits. */
function weight(words: Uint32Array): number {
  let bits = 0;
  for (let i = 0; i < words.length; i += 2) {
    const high = words[i + 1]!;
    bits += high === 0 ? 32 - Math.clz32(words[i]!) : 64 - Math.clz32(high);
  }
  return bits;
}

function writePlanes(bytes: Uint8Array, { at, count, width }: Place, words: Uint32Array): void {
  const values = new Uint8Array(words.buffer);
  for (let plane = 0; plane < width; plane++) {
    let to = at + plane * count;
    for (let i = plane; i < values.length; i += width) bytes[to++] = values[i]!;
  }
}
