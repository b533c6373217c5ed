// Unpacks LZ4 frames in plain JavaScript, directly into the result. The native library allocates memory for each buffer
// and copies it, which takes three times as long for a trace of ten million tasks. Browsers lack the native library.
import { damaged } from '../damage.js';

const MAGIC = 0x184d2204;
/** Bits of the frame's descriptor. */
const CONTENT_CHECKSUM = 0x04;
const CONTENT_SIZE = 0x08;
const BLOCK_CHECKSUM = 0x10;
const DICTIONARY = 0x01;
/** Bit of a block that is stored uncompressed. */
const UNCOMPRESSED = 0x80000000;
const MIN_MATCH = 4;
/** Number of bytes below which a loop copies faster than a call. */
const FEW = 64;

/**
 * Unpacks the frame `packed` into `result`. Throws DamagedBytes if the content has another length or another checksum.
 * Cost: about 1 ns per byte.
 *
 * @source the LZ4 frame and block formats, https://github.com/lz4/lz4/tree/dev/doc
 */
export function unpackLz4Frame(packed: Uint8Array, result: Uint8Array): void {
  const size = result.length;
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
  if (packed.length < 7 || view.getUint32(0, true) !== MAGIC) damaged('a buffer is not an LZ4 frame');
  const flags = packed[4]!;
  let at = 7 + ((flags & CONTENT_SIZE) === 0 ? 0 : 8) + ((flags & DICTIONARY) === 0 ? 0 : 4);
  let filled = 0;
  for (;;) {
    if (at + 4 > packed.length) damaged('an LZ4 frame is not complete');
    const word = view.getUint32(at, true);
    at += 4;
    if (word === 0) break;
    const length = (word & ~UNCOMPRESSED) >>> 0;
    if (at + length > packed.length) damaged('an LZ4 frame is not complete');
    const block = packed.subarray(at, at + length);
    if ((word & UNCOMPRESSED) !== 0) {
      if (filled + length > size) damaged('an LZ4 frame has too many bytes');
      result.set(block, filled);
      filled += length;
    } else filled = unpackBlock(block, result, filled);
    at += length + ((flags & BLOCK_CHECKSUM) === 0 ? 0 : 4);
  }
  if (filled < size) damaged('an LZ4 frame has too few bytes');
  if ((flags & CONTENT_CHECKSUM) === 0) return;
  if (at + 4 > packed.length) damaged('an LZ4 frame is not complete');
  if (view.getUint32(at, true) !== xxHash32(result)) damaged('an LZ4 frame has a wrong checksum');
}

/** Unpacks a block and returns the new end of the result. Matches may refer to earlier blocks. */
function unpackBlock(block: Uint8Array, result: Uint8Array, filled: number): number {
  const from = new DataView(block.buffer, block.byteOffset, block.byteLength);
  const into = new DataView(result.buffer, result.byteOffset, result.byteLength);
  let at = 0;
  let to = filled;
  while (at < block.length) {
    const token = block[at++]!;
    let literals = token >> 4;
    if (literals === 15) {
      for (let more = 255; more === 255; literals += more)
        more = block[at++] ?? damaged('an LZ4 block ends early');
    }
    if (at + literals > block.length || to + literals > result.length) damaged('an LZ4 block is too long');
    // Copies words of four bytes. The next write overwrites the surplus.
    const roomy = to + literals + 4 <= result.length && at + literals + 4 <= block.length;
    if (literals < FEW && roomy) {
      for (let i = 0; i < literals; i += 4) into.setInt32(to + i, from.getInt32(at + i, true), true);
    } else if (literals < FEW) for (let i = 0; i < literals; i++) result[to + i] = block[at + i]!;
    else result.set(block.subarray(at, at + literals), to);
    at += literals;
    to += literals;
    if (at === block.length) break;
    const offset = block[at]! | ((block[at + 1] ?? 0) << 8);
    at += 2;
    if (offset === 0 || offset > to) damaged('an LZ4 block has an invalid offset');
    let match = token & 15;
    if (match === 15) {
      for (let more = 255; more === 255; match += more)
        more = block[at++] ?? damaged('an LZ4 block ends early');
    }
    match += MIN_MATCH;
    if (to + match > result.length) damaged('an LZ4 block is too long');
    if (match < FEW && offset >= 4 && to + match + 4 <= result.length) {
      for (let i = 0; i < match; i += 4) into.setInt32(to + i, into.getInt32(to - offset + i, true), true);
    } else copyMatch(result, to, offset, match);
    to += match;
  }
  return to;
}

/** Copies `match` bytes from `offset` bytes before `to`. A match that is longer than its offset repeats itself. */
function copyMatch(result: Uint8Array, to: number, offset: number, match: number): void {
  if (match < FEW) {
    for (let i = 0; i < match; i++) result[to + i] = result[to - offset + i]!;
    return;
  }
  let done = 0;
  // Every step doubles the available source.
  for (let step = offset; done < match; step *= 2) {
    const count = Math.min(step, match - done);
    result.copyWithin(to + done, to - offset, to - offset + count);
    done += count;
  }
}

// The checksum of LZ4 frames.

const PRIME_1 = 0x9e3779b1;
const PRIME_2 = 0x85ebca77;
const PRIME_3 = 0xc2b2ae3d;
const PRIME_4 = 0x27d4eb2f;
const PRIME_5 = 0x165667b1;

/**
 * Returns xxHash32 with seed 0, unsigned. Cost: some 0.4 ns per byte.
 *
 * @source the xxHash specification, https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md
 */
function xxHash32(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const { length } = bytes;
  let at = 0;
  let hash = PRIME_5;
  if (length >= 16) {
    let a = (PRIME_1 + PRIME_2) | 0;
    let b = PRIME_2 | 0;
    let c = 0;
    let d = -PRIME_1 | 0;
    for (; at + 16 <= length; at += 16) {
      a = round(a, view.getInt32(at, true));
      b = round(b, view.getInt32(at + 4, true));
      c = round(c, view.getInt32(at + 8, true));
      d = round(d, view.getInt32(at + 12, true));
    }
    hash = (rotated(a, 1) + rotated(b, 7) + rotated(c, 12) + rotated(d, 18)) | 0;
  }
  hash = (hash + length) | 0;
  for (; at + 4 <= length; at += 4)
    hash = Math.imul(rotated((hash + Math.imul(view.getInt32(at, true), PRIME_3)) | 0, 17), PRIME_4);
  for (; at < length; at++)
    hash = Math.imul(rotated((hash + Math.imul(bytes[at]!, PRIME_5)) | 0, 11), PRIME_1);
  hash = Math.imul(hash ^ (hash >>> 15), PRIME_2);
  hash = Math.imul(hash ^ (hash >>> 13), PRIME_3);
  return (hash ^ (hash >>> 16)) >>> 0;
}

function round(sum: number, word: number): number {
  return Math.imul(rotated((sum + Math.imul(word, PRIME_2)) | 0, 13), PRIME_1);
}

function rotated(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits));
}
