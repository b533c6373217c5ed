// DASF's event file: queues events, appends them in batches under a lock, and reads them back.

import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  rmSync,
  writeSync,
} from 'node:fs';
import {
  checkArgument,
  checkOptions,
  FLAG,
  kind,
  type OptionKinds,
  SECONDS,
  TEXT,
} from '../base/arguments.js';
import { LongpoleError } from '../base/errors.js';
import { INSPECT } from '../base/printed.js';
import type { EventDatabase } from '../trace/eventDatabase.js';
import { addEvent } from '../trace/formats/dasf/dasfEventRows.js';
import type { DasfEvent } from '../trace/formats/dasf/dasfEvents.js';
import { DasfEventReader, DasfReader } from '../trace/formats/dasf/dasfReader.js';
import { DasfEncoder } from '../trace/formats/dasf/dasfWriter.js';
import type { TraceBuilder } from '../trace/traceBuilder.js';
import { withAppendLock } from './appendLock.js';
import { flushAtExit, nothingToFlush } from './exitFlush.js';
import { readInChunks, readWhole } from './readFile.js';

export interface FileDatabaseOptions {
  /** Events that are queued before they are written, at least 1. Default 5000. */
  readonly commitThreshold?: number;
  /** Deletes what the file holds from earlier. Default false: events are appended. */
  readonly removeOldOutputFile?: boolean;
  /** Writes what is queued when the database is closed or the process ends. Default true. */
  readonly commitOnClose?: boolean;
  /** Seconds to wait for other processes that write to the file. Default 30. */
  readonly lockTimeout?: number;
  /** Has the system write each batch to the disk (fsync). Default true. */
  readonly flush?: boolean;
}

export const FILE_DATABASE_OPTIONS: OptionKinds<FileDatabaseOptions> = {
  commitThreshold: kind('a number, at least 1', (value) => typeof value === 'number' && value >= 1),
  removeOldOutputFile: FLAG,
  commitOnClose: FLAG,
  lockTimeout: SECONDS,
  flush: FLAG,
};

/**
 * Events in a file of DASF's: each is an 8-byte big-endian length and a msgpack map. Several processes, Longpole's and
 * DASF's, may append to one file. Nothing is created before the first event is written.
 *
 * @source DASF, `FileDatabase`
 */
export class FileDatabase implements EventDatabase {
  readonly file: string;
  readonly commitThreshold: number;
  readonly commitOnClose: boolean;
  readonly lockTimeout: number;
  readonly flush: boolean;
  #queue: DasfEvent[] = [];
  readonly #encoder = new DasfEncoder();
  readonly #flushAtExit = (): void => this.#commitAtExit();

  /** Throws ERR_LONGPOLE_INVALID_ARGUMENT for a threshold below 1 or a negative timeout. */
  constructor(file = 'traces.msgpack', options: FileDatabaseOptions = {}) {
    checkArgument('FileDatabase: file', file, TEXT);
    checkOptions('FileDatabase', options, FILE_DATABASE_OPTIONS);
    this.file = file;
    this.commitThreshold = options.commitThreshold ?? 5000;
    this.commitOnClose = options.commitOnClose ?? true;
    this.lockTimeout = options.lockTimeout ?? 30;
    this.flush = options.flush ?? true;
    if (options.removeOldOutputFile === true) rmSync(file, { force: true });
  }

  /** Queues an event; with the event that fills the queue all are written. Throws what `commit` throws. */
  record(event: DasfEvent): void {
    const queued = this.#queue.push(event);
    if (queued === 1 && this.commitOnClose) flushAtExit(this.#flushAtExit);
    if (queued >= this.commitThreshold) this.commit();
  }

  /**
   * Writes what is queued. Throws ERR_LONGPOLE_LOCK_TIMEOUT if others write all the time, ERR_LONGPOLE_TRACE_FILE if the
   * file cannot be written; then the events stay queued, and the file is as it was.
   */
  commit(): void {
    if (this.#queue.length === 0) return;
    this.#encoder.clear();
    for (const event of this.#queue) this.#encoder.add(event);
    appendBytes(this.file, this.#encoder.bytes, this.lockTimeout, this.flush);
    this.#queue = [];
    nothingToFlush(this.#flushAtExit);
  }

  /** Writes what is queued, unless `commitOnClose` is false: then it is dropped. */
  close(): void {
    if (this.commitOnClose) this.commit();
    this.#queue = [];
    nothingToFlush(this.#flushAtExit);
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /**
   * The events in the file, in its order, then those that this database has queued. Damaged stretches are left out, `readInto`
   * reports them. Throws ERR_LONGPOLE_TRACE_FILE if there is neither.
   */
  *getTraces(): Generator<DasfEvent> {
    const queue = this.#queue;
    if (this.#hasFile()) {
      const reader = new DasfEventReader();
      for (const _ of readInChunks(this.file, reader)) yield* reader.take();
    }
    // What was written meanwhile has come from the file.
    if (queue === this.#queue) yield* queue.slice();
  }

  readInto(builder: TraceBuilder): void {
    if (this.#hasFile()) readWhole(this.file, new DasfReader(builder));
    for (const event of this.#queue) {
      addEvent(builder, event);
      builder.eventCount++;
    }
  }

  /** Whether to read it: without anything queued, a file that is missing is an error. */
  #hasFile(): boolean {
    return this.#queue.length === 0 || existsSync(this.file);
  }

  toString(): string {
    return `FileDatabase at ${this.file}`;
  }

  [INSPECT](): string {
    return this.toString();
  }

  #commitAtExit(): void {
    try {
      this.commit();
    } catch (error) {
      process.emitWarning(`${this.#queue.length} events of ${this.file} are lost: ${String(error)}`);
    }
  }
}

/** All of the bytes, or none of them. */
function appendBytes(file: string, bytes: Uint8Array, lockTimeout: number, flush: boolean): void {
  let fd: number | undefined;
  try {
    const handle = openSync(file, 'a');
    fd = handle;
    withAppendLock(file, handle, lockTimeout, () => {
      const { size } = fstatSync(handle);
      try {
        for (let done = 0; done < bytes.length; ) done += writeSync(handle, bytes, done);
        if (flush) fsyncSync(handle);
      } catch (error) {
        ftruncateSync(handle, size);
        throw error;
      }
    });
  } catch (cause) {
    if (cause instanceof LongpoleError) throw cause;
    throw new LongpoleError('ERR_LONGPOLE_TRACE_FILE', `${file} cannot be written: ${String(cause)}.`, {
      cause,
    });
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
