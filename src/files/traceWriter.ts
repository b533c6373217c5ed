// Records a trace directory: appends batches to one file per table, forces them to the disk on a schedule, and writes
// the end of the recording to meta.json. After a kill at any byte, the directory has all batches written before.

import {
  closeSync,
  existsSync,
  fsync,
  fsyncSync,
  ftruncateSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { availableParallelism, hostname } from 'node:os';
import { join } from 'node:path';
import {
  COUNT,
  checkArgument,
  checkOptions,
  FLAG,
  INTERVAL,
  type OptionKinds,
  TEXT,
} from '../base/arguments.js';
import { attempt, LongpoleError, notWrittenError } from '../base/errors.js';
import type { TaskRuns } from '../protocol/clusterObserver.js';
import { RECORDED_TABLES, type RecordedTable } from '../protocol/traceSchema.js';
import { TraceEncoder } from '../trace/recording/traceEncoder.js';
import {
  CLOCK,
  FORMAT_NAME,
  FORMAT_VERSION,
  META_FILE,
  metaText,
  type TraceEnding,
} from '../trace/recording/traceMeta.js';
import { flushAtExit, nothingToFlush, warnAtExit } from './exitFlush.js';
import { LZ4_CODEC } from './lz4Codec.js';
import { makeFolders } from './writePieces.js';

export interface TraceWriterOptions {
  /** Seconds between two times that rows are written and forced to the disk, more than 0. Default 1. */
  readonly interval?: number;
  /** Deletes an existing trace. Default false: an existing trace is an error. */
  readonly overwrite?: boolean;
  /** Name of the recorder in meta.json. Default `longpole`. */
  readonly tool?: string;
  /** True to write pending rows also when SIGINT or SIGTERM end the process. Default true. */
  readonly onSignals?: boolean;
  /** Number of rows of a table that triggers a write. Default 16,384. */
  readonly batchRows?: number;
}

const OPTIONS: OptionKinds<TraceWriterOptions> = {
  interval: INTERVAL,
  overwrite: FLAG,
  tool: TEXT,
  onSignals: FLAG,
  batchRows: COUNT,
};

/** Returns the file of a table in a trace directory. */
export function tableFile(table: RecordedTable): string {
  return `${table}.arrows`;
}

/**
 * An observer of a cluster that records a trace directory. It begins with `TraceWriter.create` and ends with `close`,
 * or with the process (not by SIGKILL). Later events are not recorded.
 */
export class TraceWriter extends TraceEncoder {
  readonly directory: string;
  readonly #files: TraceFiles;
  readonly #timer: NodeJS.Timeout;
  /** Milliseconds after the last write in which the timer must have fired, unless the program blocks its event loop. */
  readonly #late: number;
  /** Time of the last write, on `performance.now()`. */
  #written = performance.now();
  readonly #atExit = (): void => this.#closeAtExit();
  #open = true;

  /**
   * Creates the directory and the beginnings of its files. Throws ERR_LONGPOLE_TRACE_FILE if they cannot be written
   * or a trace exists already, ERR_LONGPOLE_INVALID_ARGUMENT for an invalid interval.
   */
  static create(directory: string, options: TraceWriterOptions = {}): TraceWriter {
    checkArgument('TraceWriter: directory', directory, TEXT);
    checkOptions('TraceWriter', options, OPTIONS);
    const { interval = 1, overwrite = false, tool = 'longpole' } = options;
    const files = new TraceFiles(directory, tool, overwrite);
    return new TraceWriter(files, interval, options);
  }

  private constructor(
    files: TraceFiles,
    interval: number,
    { batchRows, onSignals = true }: TraceWriterOptions,
  ) {
    super((table, parts) => files.append(table, parts), {
      codec: LZ4_CODEC,
      ...(batchRows === undefined ? {} : { batchRows }),
    });
    this.#files = files;
    this.directory = files.directory;
    this.start();
    this.#late = 2 * interval * 1000;
    this.#timer = setInterval(() => this.#write(), interval * 1000);
    // A recording does not keep a program alive.
    this.#timer.unref();
    flushAtExit(this.#atExit, onSignals);
  }

  /** Also writes if it is late, e.g. in a long `getSync`: Ctrl+C ends such a program at once. */
  override tasksEnded(runs: TaskRuns): void {
    super.tasksEnded(runs);
    const isLate = performance.now() - this.#written > this.#late;
    if (isLate && this.#open && this.failure === undefined) this.#write();
  }

  /** Reason why the recording stopped; undefined while it runs. */
  get failure(): LongpoleError | undefined {
    return this.#files.failure;
  }

  /**
   * Writes all events so far, and the ends of the files, so that the trace is complete as it is. Events from now on
   * until `close` are added. Throws the errors of `close`.
   */
  settle(): void {
    if (!this.#open) return;
    this.flush();
    this.#files.provisionally(() => this.end());
    const { failure } = this.#files;
    if (failure !== undefined) throw failure;
  }

  /**
   * Writes pending rows, forces them to the disk and marks the trace as complete in meta.json. Throws
   * ERR_LONGPOLE_TRACE_FILE if this or an earlier write failed.
   */
  close(): void {
    if (!this.#open) return;
    this.#open = false;
    clearInterval(this.#timer);
    nothingToFlush(this.#atExit);
    this.end();
    this.#files.close();
    const { failure } = this.#files;
    if (failure !== undefined) throw failure;
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #write(): void {
    this.#written = performance.now();
    this.flush();
    this.#files.sync();
    const { failure } = this.#files;
    if (failure === undefined) return;
    clearInterval(this.#timer);
    process.emitWarning(`Recording stopped: ${failure.message}`, 'LongpoleWarning');
  }

  #closeAtExit(): void {
    try {
      this.close();
    } catch (error) {
      warnAtExit(`${this.directory} is not complete: ${String(error)}`);
    }
  }
}

interface TableHandle {
  readonly fd: number;
  readonly file: string;
  size: number;
  /** Bytes since the file was last forced to the disk. */
  dirty: boolean;
}

/** The files of a trace that is being recorded. After the first failure they are not changed any more. */
class TraceFiles {
  readonly directory: string;
  failure: LongpoleError | undefined;
  readonly #tool: string;
  readonly #started = Date.now() / 1000;
  readonly #handles = new Map<RecordedTable, TableHandle>();
  /** Start of the file's end, which the next append overwrites. */
  #provisional = false;
  #syncing = 0;
  #closed = false;

  constructor(directory: string, tool: string, overwrite: boolean) {
    this.directory = directory;
    this.#tool = tool;
    const names = [META_FILE, ...RECORDED_TABLES.map(tableFile)];
    const there = names.find((name) => existsSync(join(directory, name)));
    if (there !== undefined && !overwrite) {
      throw new LongpoleError(
        'ERR_LONGPOLE_TRACE_FILE',
        `${directory} holds a trace already (${there}). Choose another name, or replace it with the option overwrite (--overwrite on the command line).`,
      );
    }
    try {
      makeFolders(directory);
      for (const name of names) rmSync(join(directory, name), { force: true });
      this.#writeMeta('recording');
      for (const table of RECORDED_TABLES) {
        const file = join(directory, tableFile(table));
        this.#handles.set(table, { fd: openSync(file, 'w'), file, size: 0, dirty: true });
      }
    } catch (error) {
      this.#closeHandles();
      // The next attempt would find a trace.
      for (const name of names) attempt(() => rmSync(join(directory, name), { force: true }), undefined);
      throw notWrittenError(directory, error);
    }
  }

  /** Appends all of the bytes. If the disk is full, appends none, and no others afterwards. */
  append(table: RecordedTable, parts: readonly Uint8Array[]): void {
    const handle = this.#handles.get(table);
    if (handle === undefined || this.failure !== undefined || this.#closed) return;
    const bytes = Buffer.concat(parts);
    try {
      for (let done = 0; done < bytes.length; ) {
        done += writeSync(handle.fd, bytes, done, bytes.length - done, handle.size + done);
      }
      if (!this.#provisional) handle.size += bytes.length;
      handle.dirty = true;
    } catch (error) {
      this.failure ??= notWrittenError(handle.file, error);
      try {
        ftruncateSync(handle.fd, handle.size);
      } catch {
        // The truncated end is detected when the trace is opened.
      }
    }
  }

  /** Appends the ends of the files, which later rows overwrite. */
  provisionally(end: () => void): void {
    this.#provisional = true;
    end();
    this.#provisional = false;
    this.#writeEnding();
  }

  /** Makes the system write its buffers to the disk, in the background. */
  sync(): void {
    if (this.#syncing > 0) return;
    for (const handle of this.#handles.values()) {
      if (!handle.dirty) continue;
      handle.dirty = false;
      this.#syncing++;
      fsync(handle.fd, (error) => {
        this.#syncing--;
        // If the file was closed before this call ended, `close` has forced it to the disk.
        if (error !== null && !this.#closed) this.failure ??= notWrittenError(handle.file, error);
      });
    }
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    try {
      for (const { fd } of this.#handles.values()) fsyncSync(fd);
    } catch (error) {
      this.failure ??= notWrittenError(this.directory, error);
    }
    this.#closeHandles();
    this.#writeEnding();
  }

  #writeEnding(): void {
    try {
      this.#writeMeta(this.failure === undefined ? 'closed' : 'failed');
    } catch (error) {
      this.failure ??= notWrittenError(join(this.directory, META_FILE), error);
      this.#writeFailure();
    }
  }

  /** Replaces the content of meta.json, for which a full disk may have room where it has none for a second file. */
  #writeFailure(): void {
    const file = join(this.directory, META_FILE);
    try {
      writeFileSync(file, this.#metaText('failed'));
      rmSync(`${file}.new`, { force: true });
    } catch {
      // Without an end, the recording counts as broken off.
    }
  }

  #closeHandles(): void {
    for (const { fd } of this.#handles.values()) closeSync(fd);
  }

  /** Writes to a second file and renames it, so that a reader always sees a complete version. */
  #writeMeta(ended: TraceEnding): void {
    const file = join(this.directory, META_FILE);
    const fd = openSync(`${file}.new`, 'w');
    try {
      writeFileSync(fd, this.#metaText(ended));
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    renameSync(`${file}.new`, file);
  }

  #metaText(ended: TraceEnding): string {
    return metaText({
      format: FORMAT_NAME,
      version: FORMAT_VERSION,
      tool: this.#tool,
      host: hostname(),
      platform: `${process.platform} ${process.arch}, Node ${process.version}`,
      cores: availableParallelism(),
      clock: CLOCK,
      started: this.#started,
      stopped: ended === 'recording' ? null : Date.now() / 1000,
      ended,
      ...(this.failure === undefined ? {} : { reason: this.failure.message }),
    });
  }
}
