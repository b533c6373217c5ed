// Compresses results with lz4 if a sample of the bytes shows that it pays. The work is done in parts, so that the
// calling thread stays responsive. Compression, which is slow, runs on libuv's threads; decompression runs on this
// one.
import { setImmediate } from 'node:timers/promises';
import { attempt, LongpoleError } from '../../base/errors.js';
import { sumOf } from '../../base/lookUps.js';
import { loadPackage } from '../../base/packages.js';
import type { Bytes } from '../../protocol/packedResult.js';

/** Bytes below which nothing is compressed. */
const MIN_COMPRESS_BYTES = 10_000;
const SAMPLES = 5;
const SAMPLE_BYTES = 10_000;
/** Largest compressed share of the original that is worth the time. */
const MAX_RATIO = 0.7;

/** Bytes of a part. Compressing a part takes 1 to 10 ms on another thread, and copying it afterwards 1 ms on this one. */
export const PART_BYTES = 2 ** 21;
/** Parts in progress at a time, because libuv's four threads also read and write files. */
const PARTS_AT_ONCE = 2;

/** lz4-napi writes the length of the original in front of a block. */
const LENGTH_BYTES = 4;

/** A part of a buffer in stored form; compressed if `bytes` is shorter than `nbytes`. */
export interface PackedPart {
  readonly bytes: Bytes;
  /** Length of the original in bytes. */
  readonly nbytes: number;
}

/**
 * Returns whether a sample of the bytes shrinks enough to compress all of them. Cost: some 0.2 ms, for five evenly
 * spaced samples. False for so few bytes that nothing would be gained.
 *
 * @source the role of Dask's `maybe_compress`
 */
export function pays(bytes: Bytes): boolean {
  if (bytes.byteLength < MIN_COMPRESS_BYTES || !hasLz4()) return false;
  const count = Math.min(SAMPLES, Math.floor(bytes.byteLength / SAMPLE_BYTES));
  const sample = Buffer.allocUnsafe(count * SAMPLE_BYTES);
  const step = count === 1 ? 0 : Math.floor((bytes.byteLength - SAMPLE_BYTES) / (count - 1));
  for (let i = 0; i < count; i++) {
    sample.set(bytes.subarray(i * step, i * step + SAMPLE_BYTES), i * SAMPLE_BYTES);
  }
  return loadPackage('lz4-napi').compressSync(sample).byteLength <= MAX_RATIO * sample.byteLength;
}

/** Whether lz4 is available. Some platforms have no binary. */
function hasLz4(): boolean {
  return attempt(() => loadPackage('lz4-napi') !== undefined, false);
}

/** Returns the bytes in compressed parts. A part that does not shrink is not changed. */
export async function compressParts(bytes: Bytes): Promise<PackedPart[]> {
  const pieces = cut(bytes);
  const parts: PackedPart[] = new Array(pieces.length);
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < pieces.length) {
      const index = next++;
      parts[index] = await compressPart(pieces[index]!);
    }
  };
  await Promise.all(Array.from({ length: PARTS_AT_ONCE }, lane));
  return parts;
}

/** Splits the bytes into pieces of at most PART_BYTES. */
export function cut(bytes: Bytes): Bytes[] {
  const count = Math.ceil(bytes.byteLength / PART_BYTES);
  return Array.from({ length: count }, (_, i) => bytes.subarray(i * PART_BYTES, (i + 1) * PART_BYTES));
}

async function compressPart(original: Bytes): Promise<PackedPart> {
  const { byteLength: nbytes } = original;
  const small = await loadPackage('lz4-napi').compress(original);
  const shrinks = small.byteLength <= nbytes * MAX_RATIO;
  return { bytes: shrinks ? bytesOf(small) : original, nbytes };
}

/**
 * Decompresses a part into `target`, which has the length of the original.
 *
 * @throws LongpoleError ERR_LONGPOLE_RESULT_BYTES if the bytes are no such part
 */
export async function decompress(part: PackedPart, target: Bytes): Promise<void> {
  const { bytes, nbytes } = part;
  if (target.byteLength !== nbytes) throw damaged('a part has another length than its place');
  if (bytes.byteLength === nbytes) {
    // The part may have been read into its place already.
    if (bytes.buffer !== target.buffer) target.set(bytes);
    return;
  }
  // Checked beforehand, because the decoder would allocate any length that the bytes claim.
  if (bytes.byteLength < LENGTH_BYTES || lengthOf(bytes) !== nbytes)
    throw damaged('a part has another length');
  // Yields to other work first, because a part takes some 2 ms. Not on libuv's threads: the addon's allocator keeps
  // memory that one thread has allocated and another has freed, 600 MB after 200 parts.
  await setImmediate();
  let original: Uint8Array;
  try {
    original = loadPackage('lz4-napi').uncompressSync(bytes);
  } catch (cause) {
    throw damaged('a part is no lz4 block', cause);
  }
  if (original.byteLength !== nbytes) throw damaged('a part has another length than its block');
  target.set(original);
}

/** Decompresses all parts one after the other into `target`. Throws the errors of `decompress`. */
export async function decompressParts(parts: readonly PackedPart[], target: Bytes): Promise<void> {
  if (sumOf(parts, ({ nbytes }) => nbytes) !== target.byteLength) throw damaged('parts are missing');
  let start = 0;
  for (const part of parts) {
    const end = start + part.nbytes;
    await decompress(part, target.subarray(start, end));
    start = end;
  }
}

function bytesOf({ buffer, byteOffset, byteLength }: Uint8Array): Bytes {
  return buffer instanceof ArrayBuffer
    ? new Uint8Array(buffer, byteOffset, byteLength)
    : new Uint8Array(buffer, byteOffset, byteLength);
}

function lengthOf(bytes: Bytes): number {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(0, true);
}

function damaged(what: string, cause?: unknown): LongpoleError {
  return new LongpoleError(
    'ERR_LONGPOLE_RESULT_BYTES',
    `The bytes of a result are damaged: ${what}. Run one version of Node on all workers. If they already do, please report this error.`,
    { cause },
  );
}
