// Opens a trace of any format. The first bytes of the file decide, not its name.
import { ANY, CALLABLE, checkOptions, type OptionKinds } from '../base/arguments.js';
import { invalidArgument } from '../base/errors.js';
import { checkMaxUnpackedBytes } from '../base/unpackLimit.js';
import type { Trace } from '../trace/trace.js';
import { TraceBuilder } from '../trace/traceBuilder.js';
import { isFolder } from './makeFolders.js';
import { readInChunks } from './readFile.js';
import { isHtmlFile, looksLikeHtml, openReport, openReportFile } from './reportFile.js';
import { openTraceDirectory } from './traceDirectory.js';
import { TraceFileReader } from './traceFormat.js';

export interface OpenTraceOptions {
  /** Called from time to time with the number of bytes read. */
  readonly onProgress?: (bytes: number) => void;
  /**
   * Bytes to which the data of a trace directory, of a report or of a gzip file may unpack. Infinity for no limit. Default: 100
   * times the packed bytes, and at least 128 MiB.
   */
  readonly maxUnpackedBytes?: number;
}

export const OPEN_OPTIONS: OptionKinds<OpenTraceOptions> = { onProgress: CALLABLE, maxUnpackedBytes: ANY };

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
  if (typeof source === 'string' && isFolder(source)) return openTraceDirectory(source, maxUnpackedBytes);
  if (typeof source === 'string' && isHtmlFile(source)) return openReportFile(source, maxUnpackedBytes);
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
  new TraceFileReader('The bytes', builder, { maxUnpackedBytes }).feed(bytes, bytes.length, true);
  return builder.build();
}

function checkSource(source: unknown): void {
  if (typeof source === 'string' || source instanceof Uint8Array) return;
  throw invalidArgument(
    `openTrace() takes a path or the bytes of a trace (Uint8Array), not ${String(source)}.`,
  );
}
