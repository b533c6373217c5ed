// Which format a trace file has, by its first bytes: the reader for it, or a sentence about what it looks like instead.
import { LongpoleError } from '../base/errors.js';
import { ChromeReader } from '../trace/formats/chrome/chromeReader.js';
import { looksLikeChrome } from '../trace/formats/chrome/chromeText.js';
import { type ByteReader, DasfReader } from '../trace/formats/dasf/dasfReader.js';
import { looksLikeDasf } from '../trace/formats/dasf/dasfRecords.js';
import type { TraceBuilder } from '../trace/traceBuilder.js';
import { GunzipReader, looksLikeGzip } from './gunzip.js';

/** Enough to recognise every format; of white space before the text some more. */
const HEAD = 256;
/** What a trace may be, for messages. */
const KNOWN =
  'a trace directory, a performance report, an event file of DASF or of EventProfiler, or Chrome Trace JSON, packed by gzip or not';

export interface TraceFileOptions {
  /** Bytes that a packed file may become. */
  readonly maxUnpackedBytes?: number | undefined;
  /** What comes was in a gzip file. */
  readonly packed?: boolean;
}

/**
 * Reads a file of any known format into `builder`. `feed` throws ERR_LONGPOLE_TRACE_FORMAT if it is none, and
 * ERR_LONGPOLE_UNPACKED_SIZE if its packed bytes become more than is allowed.
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

  /** What shows only at the end. */
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
      `${this.#name} is no trace that Longpole knows: ${where}${what}. It should be ${KNOWN}.`,
    );
  }
}

// What a file looks like that is not what it should be, in words for an error message.

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

/** A clause without a full stop. */
function describeBytes(bytes: Uint8Array): string {
  const known = SIGNATURES.find(([signature]) => signature.every((byte, i) => bytes[i] === byte));
  if (known !== undefined) return known[1];
  const head = bytes.subarray(0, 40);
  const text = new TextDecoder().decode(head);
  const first = text.trimStart()[0];
  if (first === '{' || first === '[') return `it begins like JSON, ${JSON.stringify(text)}`;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what tells bytes from text
  if (!/[\u0000-\u0008\u000e-\u001f\ufffd]/.test(text)) return `it begins like text, ${JSON.stringify(text)}`;
  return `it begins with the bytes ${Array.from(head.subarray(0, 16), (byte) => byte.toString(16).padStart(2, '0')).join(' ')}`;
}
