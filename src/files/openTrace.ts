// Opens a trace of any format. The first bytes of the file decide, not its name.

import { kMaxLength } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { inflateSync } from 'node:zlib';
import { ANY, CALLABLE, checkOptions, type OptionKinds } from '../base/arguments.js';
import { invalidArgument, LongpoleError } from '../base/errors.js';
import { fieldOf } from '../base/json.js';
import { checkMaxUnpackedBytes, unpackedSizeError, unpackLimit } from '../base/unpackLimit.js';
import { decodeReport, REPORT_ELEMENT } from '../trace/recording/reportBytes.js';
import type { Trace } from '../trace/trace.js';
import { TraceBuilder } from '../trace/traceBuilder.js';
import { HEAD, headOf, readInChunks, reading } from './readFile.js';
import { openTraceDirectory } from './traceDirectory.js';
import { TraceFileReader } from './traceFormat.js';
import { isFolder } from './writePieces.js';

export interface OpenTraceOptions {
  /** Called from time to time with the number of bytes read. */
  readonly onProgress?: (bytes: number) => void;
  /**
   * Bytes to which the data of a trace directory, of a report or of a gzip file may unpack. Infinity for no limit. Default: 100
   * times the packed bytes, and at least 128 MiB.
   */
  readonly maxUnpackedBytes?: number;
}

const OPEN_OPTIONS: OptionKinds<OpenTraceOptions> = { onProgress: CALLABLE, maxUnpackedBytes: ANY };

/**
 * Opens the trace in a directory, in a file, or in bytes. It may be a trace directory, a performance report (the HTML
 * file that `performanceReport` writes), an event file of DASF or of `EventProfiler`, or Chrome Trace JSON (an array
 * of events or an object with `traceEvents`, with or without its end). The last two may be packed by gzip. A
 * truncated or damaged file opens with its readable part; `trace.damage` describes the rest. An empty file is a trace
 * without events. Memory grows with the rows of the trace, not with the size of the file.
 *
 * Throws ERR_LONGPOLE_TRACE_FILE if a file cannot be read, ERR_LONGPOLE_TRACE_FORMAT if it is no trace,
 * ERR_LONGPOLE_TRACE_VERSION if a newer Longpole recorded it, ERR_LONGPOLE_UNPACKED_SIZE if its packed data unpacks
 * to more than `maxUnpackedBytes`, ERR_LONGPOLE_INVALID_ARGUMENT if the argument is neither a path nor bytes.
 */
export function openTrace(source: string | Uint8Array, options: OpenTraceOptions = {}): Trace {
  checkOptions('openTrace()', options, OPEN_OPTIONS);
  const { onProgress, maxUnpackedBytes } = options;
  checkSource(source);
  checkMaxUnpackedBytes(maxUnpackedBytes);
  if (typeof source === 'string' && reading(source, () => isFolder(source)))
    return openTraceDirectory(source, maxUnpackedBytes);
  // A file that cannot be read has no head; the reader below throws the reason.
  if (typeof source === 'string' && looksLikeHtml(headOf(source))) {
    const page = reading(source, () => readFileSync(source));
    return openReport(source, page, maxUnpackedBytes);
  }
  if (typeof source !== 'string' && looksLikeHtml(source))
    return openReport('The page', source, maxUnpackedBytes);
  const builder = new TraceBuilder();
  if (typeof source === 'string') {
    for (const bytes of readInChunks(source, new TraceFileReader(source, builder, { maxUnpackedBytes })))
      onProgress?.(bytes);
    return builder.build();
  }
  // The readers need whole buffers of their own; a view of shared memory is copied.
  const bytes =
    source.buffer instanceof ArrayBuffer
      ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
      : Uint8Array.from(source);
  new TraceFileReader('The data', builder, { maxUnpackedBytes }).feed(bytes, bytes.length, true);
  return builder.build();
}

function checkSource(source: unknown): void {
  if (typeof source === 'string' || source instanceof Uint8Array) return;
  throw invalidArgument(
    `openTrace() takes a path or the bytes of a trace (Uint8Array), not ${String(source)}.`,
  );
}

function looksLikeHtml(bytes: Uint8Array): boolean {
  const text = new TextDecoder().decode(bytes.subarray(0, HEAD)).trimStart().toLowerCase();
  return text.startsWith('<!doctype html') || text.startsWith('<html');
}

/**
 * Returns the trace in a page. Throws ERR_LONGPOLE_TRACE_FORMAT if the page is no report or damaged,
 * ERR_LONGPOLE_TRACE_VERSION if a newer Longpole wrote it, ERR_LONGPOLE_UNPACKED_SIZE if its data unpacks to more
 * than `maxUnpackedBytes`.
 */
function openReport(name: string, page: Uint8Array, maxUnpackedBytes?: number): Trace {
  const bytes = Buffer.from(page.buffer, page.byteOffset, page.byteLength);
  const mark = bytes.indexOf(`<script id="${REPORT_ELEMENT}"`);
  const from = mark < 0 ? -1 : bytes.indexOf('>', mark) + 1;
  const to = from <= 0 ? -1 : bytes.indexOf('<', from);
  if (to < 0) notAReport(name, 'it is a page, but no report of Longpole');
  const text = bytes.toString('latin1', from, to).trim();
  if (text === '') notAReport(name, 'it is a dashboard without a trace');
  const packed = Buffer.from(text, 'base64');
  const limit = maxUnpackedBytes ?? unpackLimit(packed.length);
  let data: Uint8Array;
  try {
    // Unpacks piece by piece, and stops beyond the limit.
    data = inflateSync(packed, { maxOutputLength: Math.max(1, Math.min(limit, kMaxLength)) });
  } catch (error) {
    if (fieldOf(error, 'code') === 'ERR_BUFFER_TOO_LARGE')
      throw unpackedSizeError(name, packed.length, limit);
    return notAReport(name, 'the data of the report is damaged: the file was cut off or changed');
  }
  return decodeReport(data, name).trace;
}

function notAReport(name: string, what: string): never {
  throw new LongpoleError(
    'ERR_LONGPOLE_TRACE_FORMAT',
    `${name} cannot be read as a trace: ${what}. Pass a complete report of Longpole.`,
  );
}
