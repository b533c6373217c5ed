// Recognises the format of a trace file by its first bytes: returns its reader, or a description of the content.

import { crc32 } from 'node:zlib';
import { LongpoleError, messageOf } from '../base/errors.js';
import { loadPackage } from '../base/packages.js';
import { joinedBytes, resizedUint8 } from '../base/resized.js';
import { unpackedSizeError, unpackLimit } from '../base/unpackLimit.js';
import { ChromeReader } from '../trace/formats/chrome/chromeReader.js';
import { looksLikeChrome } from '../trace/formats/chrome/chromeText.js';
import { type ByteReader, DasfReader } from '../trace/formats/dasf/dasfReader.js';
import { looksLikeDasf } from '../trace/formats/dasf/dasfRecords.js';
import type { TraceBuilder } from '../trace/traceBuilder.js';

/** Enough bytes to recognise every format, with some more for leading white space. */
const HEAD = 256;
/** Known formats, for messages. */
const KNOWN =
  'a trace directory, a performance report, an event file of DASF or of EventProfiler, or Chrome Trace JSON, packed by gzip or not';

interface TraceFileOptions {
  /** Bytes to which a packed file may unpack. */
  readonly maxUnpackedBytes?: number | undefined;
  /** True if the bytes come from a gzip file. */
  readonly packed?: boolean;
}

/**
 * Reads a file of any known format into `builder`. `feed` throws ERR_LONGPOLE_TRACE_FORMAT if the format is unknown,
 * and ERR_LONGPOLE_UNPACKED_SIZE if its packed bytes unpack to more than the limit.
 */
export class TraceFileReader implements ByteReader {
  readonly #name: string;
  readonly #builder: TraceBuilder;
  readonly #options: TraceFileOptions;
  #reader: ByteReader | undefined;
  #chrome: ChromeReader | undefined;
  #gunzip: GunzipReader | undefined;

  constructor(name: string, builder: TraceBuilder, options: TraceFileOptions = {}) {
    this.#name = name;
    this.#builder = builder;
    this.#options = options;
  }

  feed(bytes: Uint8Array<ArrayBuffer>, length: number, last: boolean): number {
    if (this.#reader === undefined) {
      if (length < HEAD && !last) return 0;
      this.#reader = this.#readerFor(bytes.subarray(0, length));
    }
    const consumed = this.#reader.feed(bytes, length, last);
    if (last) this.#end();
    return consumed;
  }

  #readerFor(head: Uint8Array): ByteReader {
    if (looksLikeGzip(head) && this.#options.packed !== true) {
      const reader = new TraceFileReader(this.#name, this.#builder, { packed: true });
      this.#gunzip = new GunzipReader(this.#name, reader, this.#options.maxUnpackedBytes);
      return this.#gunzip;
    }
    if (looksLikeDasf(head)) return new DasfReader(this.#builder);
    if (looksLikeChrome(head)) {
      this.#chrome = new ChromeReader(this.#builder);
      return this.#chrome;
    }
    throw this.#noTrace(describeBytes(head));
  }

  /** Reports problems that only the end of the file shows. */
  #end(): void {
    const problem = this.#chrome?.problem;
    if (problem !== undefined) throw this.#noTrace(problem);
    const packing = this.#gunzip?.problem;
    if (packing === undefined) return;
    if (this.#builder.eventCount === 0) throw this.#noTrace(`it begins like gzip, but ${packing}`);
    this.#builder.addDamage(0, 0, `the gzip file: ${packing}`);
  }

  #noTrace(what: string): LongpoleError {
    const where = this.#options.packed === true ? 'inside its gzip, ' : '';
    return new LongpoleError(
      'ERR_LONGPOLE_TRACE_FORMAT',
      `${this.#name} is not a trace of a known format: ${where}${what}. It should be ${KNOWN}.`,
    );
  }
}

// Describes the content of a file of unknown format, for an error message.

const SIGNATURES: readonly (readonly [readonly number[], string])[] = [
  [[0x1f, 0x8b], 'it begins like gzip'],
  [[0x28, 0xb5, 0x2f, 0xfd], 'it begins like zstd'],
  [[0x50, 0x4b, 3, 4], 'it begins like a zip archive'],
  [[0x41, 0x52, 0x52, 0x4f, 0x57, 0x31], 'it begins like an Arrow file'],
  [
    [0xff, 0xff, 0xff, 0xff],
    'it begins like an Arrow stream; of a table of a trace directory, name the directory',
  ],
  [[0x50, 0x41, 0x52, 0x31], 'it begins like a Parquet file'],
  [[0x7f, 0x45, 0x4c, 0x46], 'it begins like a program'],
];

/** Returns a clause without a full stop. */
function describeBytes(bytes: Uint8Array): string {
  const known = SIGNATURES.find(([signature]) => signature.every((byte, i) => bytes[i] === byte));
  if (known !== undefined) return known[1];
  const head = bytes.subarray(0, 40);
  const text = new TextDecoder().decode(head);
  const first = text.trimStart()[0];
  if (first === '{' || first === '[') return `it begins like JSON, ${JSON.stringify(text)}`;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters distinguish bytes from text
  if (!/[\u0000-\u0008\u000e-\u001f\ufffd]/.test(text)) return `it begins like text, ${JSON.stringify(text)}`;
  return `it begins with the bytes ${Array.from(head.subarray(0, 16), (byte) => byte.toString(16).padStart(2, '0')).join(' ')}`;
}

// Unpacks gzip in chunks, synchronously. Node itself unpacks either whole files at once, or asynchronously.

const TRAILER = 8;
/** Bytes that are unpacked at a time, because they may become a thousand times as many. */
const PIECE = 1 << 15;

function looksLikeGzip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b && bytes[2] === 8;
}

/**
 * Unpacks the bytes of a gzip file for another reader, which sees plain text. Afterwards `problem` describes a defect
 * of the file; the reader has received everything before it. `feed` throws ERR_LONGPOLE_UNPACKED_SIZE when the bytes
 * unpack to more than the limit.
 */
class GunzipReader implements ByteReader {
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
  /** Unpacked bytes of all members but the last one: a file may be several gzip files in a row. */
  #earlier = 0;
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
      this.#crc = 0;
      this.#earlier = this.#size;
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

  /** Checks the checksum and the size at the end of the file, which are those of the last member. */
  #checked(): string | undefined {
    if (this.#tail.length < TRAILER) return 'it is cut off';
    const view = new DataView(this.#tail.buffer, this.#tail.byteOffset, TRAILER);
    if (view.getUint32(4, true) !== (this.#size - this.#earlier) % 2 ** 32)
      return 'it is cut off, or its size is damaged';
    return view.getUint32(0, true) === this.#crc ? undefined : 'its checksum is wrong';
  }
}

function lastBytes(before: Uint8Array, chunk: Uint8Array): Uint8Array {
  if (chunk.length >= TRAILER) return chunk.slice(-TRAILER);
  return joinedBytes([before, chunk]).slice(-TRAILER);
}
