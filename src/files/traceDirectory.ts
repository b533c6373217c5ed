// Opens a trace directory. Small ones are read into memory and checked completely. For large ones, columns are read
// from their files on first use.

import { closeSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isError, LongpoleError, notWrittenError } from '../base/errors.js';
import { recordOf, sumOf } from '../base/lookUps.js';
import { RECORDED_TABLES, type RecordedTable } from '../protocol/traceSchema.js';
import { type ByteSource, memorySource } from '../trace/formats/arrow/arrowMessages.js';
import { CHECKED_BYTES, openTables, type TableSource } from '../trace/recording/openTables.js';
import { aboutOf, META_FILE, metaText, parseMeta, type TraceMeta } from '../trace/recording/traceMeta.js';
import type { Trace, TraceAbout } from '../trace/trace.js';
import { LZ4_CODEC } from './lz4Codec.js';
import { fileError, reading } from './readFile.js';
import { replaceFile } from './replaceFile.js';
import { tableFile } from './traceWriter.js';

/**
 * Opens the trace in a directory. The trace of a killed recorder opens with everything that was written;
 * `trace.damage` reports the missing end.
 *
 * Throws ERR_LONGPOLE_TRACE_FILE if files cannot be read, ERR_LONGPOLE_TRACE_FORMAT if it is no trace,
 * ERR_LONGPOLE_TRACE_VERSION if a newer Longpole recorded it, and ERR_LONGPOLE_UNPACKED_SIZE if its tables unpack to
 * more than `maxUnpackedBytes`. A trace of more than 64 MiB reads columns on first use. That also throws
 * ERR_LONGPOLE_TRACE_FILE if the files are gone, and ERR_LONGPOLE_TRACE_FORMAT if they are damaged.
 */
export function openTraceDirectory(directory: string, maxUnpackedBytes?: number): Trace {
  const meta = readMeta(directory);
  const sizes = recordOf(RECORDED_TABLES, (table) => {
    const file = join(directory, tableFile(table));
    return reading(file, () => statSync(file, { throwIfNoEntry: false })?.size);
  });
  const total = sumOf(Object.values(sizes), (size) => size ?? 0);
  const checked = total <= CHECKED_BYTES;
  const tableOf = (table: RecordedTable): TableSource => {
    const name = join(directory, tableFile(table));
    const size = sizes[table];
    if (size === undefined) return { name, bytes: undefined };
    return {
      name,
      bytes: checked ? memorySource(reading(name, () => readFileSync(name))) : new FileSource(name, size),
    };
  };
  const known = { about: aboutOf(meta) };
  return openTables(meta, tableOf, {
    name: directory,
    codec: LZ4_CODEC,
    checked,
    known,
    maxUnpackedBytes,
  });
}

/**
 * Adds what was recorded to a trace directory whose recording has ended.
 *
 * @throws LongpoleError ERR_LONGPOLE_TRACE_FILE if it cannot be written, and the errors of `openTraceDirectory`
 */
export function describeTrace(directory: string, about: TraceAbout): void {
  const file = join(directory, META_FILE);
  const text = metaText({ ...readMeta(directory), about });
  replaceFile(
    file,
    (cause) => notWrittenError(file, cause),
    (put) => put(Buffer.from(text)),
  );
}

function readMeta(directory: string): TraceMeta {
  const file = join(directory, META_FILE);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (!(isError(error) && 'code' in error && error.code === 'ENOENT')) throw fileError(file, error);
    throw new LongpoleError(
      'ERR_LONGPOLE_TRACE_FORMAT',
      `${directory} is a folder without ${META_FILE}, so it is no trace that Longpole recorded. Pass the folder that contains ${META_FILE}.`,
    );
  }
  return parseMeta(file, text);
}

/** Size of the array that consecutive reads share, because new memory costs more than reading. */
const SCRATCH = 1 << 20;
let scratch = new Uint8Array(0);

/** Reads a file, which is open only until the next turn of the event loop, so that an unused trace keeps no file open. */
class FileSource implements ByteSource {
  readonly #file: string;
  readonly length: number;
  #fd: number | undefined;

  constructor(file: string, length: number) {
    this.#file = file;
    this.length = length;
  }

  read(from: number, to: number): Uint8Array {
    const bytes = scratchBytes(Math.max(0, Math.min(to, this.length) - from));
    return reading(this.#file, () => {
      const fd = this.#open();
      let done = 0;
      while (done < bytes.length) {
        const read = readSync(fd, bytes, done, bytes.length - done, from + done);
        if (read === 0) break;
        done += read;
      }
      return bytes.subarray(0, done);
    });
  }

  /** Opens the file until the next turn of the event loop, because a column needs thousands of reads. */
  #open(): number {
    if (this.#fd === undefined) {
      this.#fd = openSync(this.#file, 'r');
      setImmediate(() => this.#close());
    }
    return this.#fd;
  }

  #close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }
}

/** Returns an array that is valid until the next call. */
function scratchBytes(size: number): Uint8Array {
  if (size > SCRATCH) return new Uint8Array(size);
  if (scratch.length === 0) scratch = new Uint8Array(SCRATCH);
  return scratch.subarray(0, size);
}
