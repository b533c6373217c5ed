// Unpacks gzip in chunks, synchronously. Node itself unpacks either whole files at once, or asynchronously.
import { crc32 } from 'node:zlib';
import { LongpoleError, messageOf } from '../base/errors.js';
import { loadPackage } from '../base/packages.js';
import { resizedUint8 } from '../base/resized.js';
import { unpackedSizeError, unpackLimit } from '../base/unpackLimit.js';
import type { ByteReader } from '../trace/formats/dasf/dasfReader.js';

const TRAILER = 8;
/** Bytes that are unpacked at a time, because they may become a thousand times as many. */
const PIECE = 1 << 15;

export function looksLikeGzip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b && bytes[2] === 8;
}

/**
 * Unpacks the bytes of a gzip file for another reader, which sees plain text. Afterwards `problem` describes a defect
 * of the file; the reader has received everything before it. `feed` throws ERR_LONGPOLE_UNPACKED_SIZE when the bytes
 * unpack to more than the limit.
 */
export class GunzipReader implements ByteReader {
  readonly #name: string;
  readonly #reader: ByteReader;
  readonly #maxUnpackedBytes: number | undefined;
  readonly #gunzip = new (loadPackage('fflate').Gunzip)((chunk) => this.#take(chunk));
  /** Unpacked bytes that the reader has not consumed. */
  #buffer: Uint8Array<ArrayBuffer> = new Uint8Array(1 << 20);
  #held = 0;
  #crc = 0;
  #packed = 0;
  #size = 0;
  /** True if the file consists of several gzip files in a row. No checksum is compared then. */
  #several = false;
  /** The last bytes of the file. */
  #tail: Uint8Array = new Uint8Array(0);
  /** The defect, as a clause without a full stop. */
  problem: string | undefined;

  /** `name` is the file's name in errors. */
  constructor(name: string, reader: ByteReader, maxUnpackedBytes?: number) {
    this.#name = name;
    this.#reader = reader;
    this.#maxUnpackedBytes = maxUnpackedBytes;
    this.#gunzip.onmember = () => {
      this.#several = true;
    };
  }

  feed(bytes: Uint8Array<ArrayBuffer>, length: number, last: boolean): number {
    const chunk = bytes.subarray(0, length);
    this.#packed += length;
    if (length > 0) this.#tail = lastBytes(this.#tail, chunk);
    for (let at = 0; at < length && this.problem === undefined; at += PIECE) {
      this.#unpack(chunk.subarray(at, at + PIECE));
    }
    if (last) {
      this.problem ??= this.#checked();
      this.#reader.feed(this.#buffer, this.#held, true);
      this.#held = 0;
    }
    return length;
  }

  #unpack(piece: Uint8Array): void {
    try {
      // The unpacker keeps the pushed bytes until the next call, but the caller reuses its buffer.
      this.#gunzip.push(piece.slice(), false);
    } catch (error) {
      if (error instanceof LongpoleError) throw error;
      this.problem = `it cannot be unpacked further (${messageOf(error)})`;
    }
  }

  #take(chunk: Uint8Array): void {
    this.#crc = crc32(chunk, this.#crc);
    this.#size += chunk.length;
    const limit = this.#maxUnpackedBytes ?? unpackLimit(this.#packed);
    if (this.#size > limit) throw unpackedSizeError(this.#name, this.#packed, limit);
    if (this.#held + chunk.length > this.#buffer.length)
      this.#buffer = resizedUint8(this.#buffer, Math.max(this.#buffer.length * 2, this.#held + chunk.length));
    this.#buffer.set(chunk, this.#held);
    this.#held += chunk.length;
    const consumed = this.#reader.feed(this.#buffer, this.#held, false);
    this.#buffer.copyWithin(0, consumed, this.#held);
    this.#held -= consumed;
  }

  /** Checks the checksum and the size at the end of the file. */
  #checked(): string | undefined {
    if (this.#several) return undefined;
    if (this.#tail.length < TRAILER) return 'it is cut off';
    const view = new DataView(this.#tail.buffer, this.#tail.byteOffset, TRAILER);
    if (view.getUint32(4, true) !== this.#size % 2 ** 32) return 'it is cut off, or its size is damaged';
    return view.getUint32(0, true) === this.#crc ? undefined : 'its checksum is wrong';
  }
}

function lastBytes(before: Uint8Array, chunk: Uint8Array): Uint8Array {
  if (chunk.length >= TRAILER) return chunk.slice(-TRAILER);
  const both = new Uint8Array(before.length + chunk.length);
  both.set(before);
  both.set(chunk, before.length);
  return both.slice(-TRAILER);
}
