// Opens a trace whatever its file is called: formats are recognised by their first bytes.
import { LongpoleError } from '../base/errors.js';
import { DasfReader } from '../trace/formats/dasfReader.js';
import { looksLikeDasf } from '../trace/formats/dasfRecords.js';
import type { Trace } from '../trace/trace.js';
import { TraceBuilder } from '../trace/traceBuilder.js';
import { describeBytes } from './describeBytes.js';
import { readInChunks } from './readFile.js';

/**
 * The trace in a file, or in bytes. Known so far: the event files of DASF and of `EventProfiler`. A file that was torn or
 * damaged opens with what could be read; `trace.damage` says what is missing. An empty file is a trace without events.
 *
 * Throws ERR_LONGPOLE_TRACE_FILE if the file cannot be read, ERR_LONGPOLE_TRACE_FORMAT if it is no trace.
 */
export function openTrace(source: string | Uint8Array): Trace {
  const builder = new TraceBuilder();
  const reader = new DasfReader(builder);
  const name = typeof source === 'string' ? source : 'The bytes';
  if (typeof source !== 'string') {
    checkFormat(name, source);
    // The readers look at whole buffers of their own kind; a view of shared memory is copied.
    const bytes =
      source.buffer instanceof ArrayBuffer
        ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
        : Uint8Array.from(source);
    reader.feed(bytes, bytes.length, true);
    return builder.build();
  }
  let checked = false;
  const checking = {
    feed: (bytes: Uint8Array<ArrayBuffer>, length: number, last: boolean): number => {
      if (!checked) checkFormat(name, bytes.subarray(0, length));
      checked = true;
      return reader.feed(bytes, length, last);
    },
  };
  for (const _ of readInChunks(source, checking));
  return builder.build();
}

function checkFormat(name: string, bytes: Uint8Array): void {
  if (looksLikeDasf(bytes)) return;
  throw new LongpoleError(
    'ERR_LONGPOLE_TRACE_FORMAT',
    `${name} is no trace that Longpole knows: ${describeBytes(bytes)}. It should be an event file of DASF or of EventProfiler.`,
  );
}
