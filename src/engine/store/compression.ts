// Compression of results with lz4, where a sample of the bytes says that it pays. The work is done in parts, so that the
// thread that asks for it stays free to answer: compressing, which is slow, on libuv's threads, decompressing on this one.
import { setImmediate } from 'node:timers/promises';
import { LongpoleError } from '../../base/errors.js';
import { loadPackage } from '../../base/packages.js';
import type { Frame, Frames } from '../../protocol/frames.js';
import { emptyFrame } from '../worker/shareBuffers.js';

/** What is shorter stays as it is. */
export const MIN_COMPRESS_BYTES = 10_000;
const SAMPLES = 5;
const SAMPLE_BYTES = 10_000;
/** Larger than this share of the original is not worth the time. */
export const MAX_RATIO = 0.7;

/** A part is compressed in 1 to 10 ms on another thread, and copied to its place afterwards in 1 ms on this one. */
export const PART_BYTES = 2 ** 21;
/** Parts in work at a time: libuv's four threads also read and write files. */
const PARTS_AT_ONCE = 2;

/** lz4-napi puts the length of the original before a block. */
const LENGTH_BYTES = 4;

/** A piece of a frame as it is stored or sent; compressed if `bytes` is shorter than `nbytes`. */
export interface PackedPart {
  readonly bytes: Frame;
  /** Bytes of the original. */
  readonly nbytes: number;
}

export interface PackedFrame {
  readonly nbytes: number;
  readonly parts: readonly PackedPart[];
}

/** `frames` of a result: the header and then the buffers. */
export interface PackedFrames {
  readonly frames: readonly PackedFrame[];
  /** Bytes as stored or sent. */
  readonly nbytes: number;
  /** Spent on compressing. */
  readonly seconds: number;
}

/**
 * Share of its size that `bytes` would probably take: some 0.2 ms for five samples at even distances. 1 if it is too
 * short to be worth a thought.
 *
 * @source the role of Dask's `maybe_compress`
 */
export function sampleRatio(bytes: Frame): number {
  if (bytes.byteLength < MIN_COMPRESS_BYTES) return 1;
  const count = Math.min(SAMPLES, Math.floor(bytes.byteLength / SAMPLE_BYTES));
  const sample = Buffer.allocUnsafe(count * SAMPLE_BYTES);
  const step = count === 1 ? 0 : Math.floor((bytes.byteLength - SAMPLE_BYTES) / (count - 1));
  for (let i = 0; i < count; i++) {
    sample.set(bytes.subarray(i * step, i * step + SAMPLE_BYTES), i * SAMPLE_BYTES);
  }
  return loadPackage('lz4-napi').compressSync(sample).byteLength / sample.byteLength;
}

/** Whether a sample of the bytes shrinks enough. */
export function pays(bytes: Frame): boolean {
  return sampleRatio(bytes) <= MAX_RATIO;
}

/** The bytes as they are, as one part. */
export function plainFrame(bytes: Frame): PackedFrame {
  return { nbytes: bytes.byteLength, parts: [{ bytes, nbytes: bytes.byteLength }] };
}

/** The bytes in compressed parts; a part that does not shrink stays as it is. */
export async function compressParts(bytes: Frame): Promise<PackedPart[]> {
  const pieces = cut(bytes);
  const parts: PackedPart[] = new Array(pieces.length);
  await inLanes(pieces.length, async (index) => {
    parts[index] = await compressPart(pieces[index]!);
  });
  return parts;
}

/** The bytes in pieces of at most PART_BYTES. */
export function cut(bytes: Frame): Frame[] {
  const count = Math.ceil(bytes.byteLength / PART_BYTES);
  return Array.from({ length: count }, (_, i) => bytes.subarray(i * PART_BYTES, (i + 1) * PART_BYTES));
}

/** Calls `work` for 0 .. count, a few at a time. */
export async function inLanes(count: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: PARTS_AT_ONCE }, lane));
}

async function compressPart(original: Frame): Promise<PackedPart> {
  const { byteLength: nbytes } = original;
  const small = await loadPackage('lz4-napi').compress(original);
  const shrinks = small.byteLength <= nbytes * MAX_RATIO;
  return { bytes: shrinks ? frameOf(small) : original, nbytes };
}

/** A result with those of its frames compressed for which `worth` says so. */
export async function compressFrames(
  frames: Frames,
  worth: (bytes: Frame) => boolean = pays,
): Promise<PackedFrames> {
  const packed: PackedFrame[] = [];
  let seconds = 0;
  for (const bytes of [frames.header, ...frames.buffers]) {
    if (worth(bytes)) {
      const start = performance.now();
      packed.push({ nbytes: bytes.byteLength, parts: await compressParts(bytes) });
      seconds += (performance.now() - start) / 1000;
    } else packed.push(plainFrame(bytes));
  }
  return { frames: packed, nbytes: storedBytes(packed), seconds };
}

/** Bytes as stored or sent. */
export function storedBytes(frames: readonly PackedFrame[]): number {
  let sum = 0;
  for (const { parts } of frames) for (const { bytes } of parts) sum += bytes.byteLength;
  return sum;
}

/**
 * Puts the original of a part into `target`, which is as long as the original.
 *
 * @throws LongpoleError ERR_LONGPOLE_FRAMES if the bytes are no such part
 */
export async function decompress(part: PackedPart, target: Frame): Promise<void> {
  const { bytes, nbytes } = part;
  if (target.byteLength !== nbytes) throw damaged('a part has another length than its place');
  if (bytes.byteLength === nbytes) {
    // It may have been read into its place already.
    if (bytes.buffer !== target.buffer) target.set(bytes);
    return;
  }
  // Looked at beforehand, because the decoder would allocate whatever length the bytes claim.
  if (bytes.byteLength < LENGTH_BYTES || lengthOf(bytes) !== nbytes)
    throw damaged('a part has another length');
  // Others first: a part takes some 2 ms. Not on libuv's threads: the addon's allocator keeps what one thread has allocated
  // and another has freed, 600 MB after 200 parts.
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

/** The original of compressFrames, in shared memory; frames that were not compressed are not copied. */
export async function decompressFrames(packed: PackedFrames): Promise<Frames> {
  const [header, ...buffers] = await Promise.all(packed.frames.map(decompressFrame));
  if (header === undefined) throw damaged('there is no header');
  return { header, buffers };
}

async function decompressFrame({ nbytes, parts }: PackedFrame): Promise<Frame> {
  const [first] = parts;
  if (parts.length === 1 && first?.bytes.byteLength === nbytes) return first.bytes;
  const whole = emptyFrame(nbytes);
  await decompressParts(parts, whole);
  return whole;
}

/** Puts the originals of all parts one after the other into `target`. Throws as `decompress` does. */
export async function decompressParts(parts: readonly PackedPart[], target: Frame): Promise<void> {
  const starts = [0];
  for (const part of parts) starts.push(starts.at(-1)! + part.nbytes);
  if (starts.pop() !== target.byteLength) throw damaged('parts are missing');
  await inLanes(parts.length, async (index) => {
    const part = parts[index]!;
    await decompress(part, target.subarray(starts[index]!, starts[index]! + part.nbytes));
  });
}

function frameOf({ buffer, byteOffset, byteLength }: Uint8Array): Frame {
  return buffer instanceof ArrayBuffer
    ? new Uint8Array(buffer, byteOffset, byteLength)
    : new Uint8Array(buffer, byteOffset, byteLength);
}

function lengthOf(bytes: Frame): number {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(0, true);
}

function damaged(what: string, cause?: unknown): LongpoleError {
  return new LongpoleError('ERR_LONGPOLE_FRAMES', `The bytes of a result are damaged: ${what}.`, { cause });
}
