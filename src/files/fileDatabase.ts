// DASF's event file: queues events, appends them in batches under a lock, and reads them back.

import { spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import {
  checkArgument,
  checkOptions,
  FINITE,
  FLAG,
  kind,
  type OptionKinds,
  SECONDS,
  TEXT,
} from '../base/arguments.js';
import { LongpoleError, notWrittenError, notWrittenText, sentenceOf } from '../base/errors.js';
import { fieldOf } from '../base/json.js';
import { Printed } from '../base/printed.js';
import { visibleText } from '../base/visibleText.js';
import type { EventDatabase } from '../trace/eventDatabase.js';
import { addEvent } from '../trace/formats/dasf/dasfEventRows.js';
import { CompleteEvent, type DasfEvent } from '../trace/formats/dasf/dasfEvents.js';
import { DasfEventReader, DasfReader } from '../trace/formats/dasf/dasfReader.js';
import { DasfEncoder } from '../trace/formats/dasf/dasfWriter.js';
import type { TraceBuilder } from '../trace/traceBuilder.js';
import { flushAtExit, nothingToFlush, warnAtExit } from './exitFlush.js';
import { readInChunks, readWhole } from './readFile.js';

export interface FileDatabaseOptions {
  /** Number of queued events that triggers a write, at least 1. Default 5000. */
  readonly commitThreshold?: number | undefined;
  /** Deletes earlier content of the file. Default false: events are appended. */
  readonly removeOldOutputFile?: boolean | undefined;
  /** Writes queued events when the database is closed or the process ends. Default true. */
  readonly commitOnClose?: boolean | undefined;
  /** Seconds to wait for other processes that write to the file. Default 30. */
  readonly lockTimeout?: number | undefined;
  /** Forces each batch to the disk (fsync). Default true. */
  readonly flush?: boolean | undefined;
}

export const FILE_DATABASE_OPTIONS: OptionKinds<FileDatabaseOptions> = {
  commitThreshold: kind('a number, at least 1', (value) => typeof value === 'number' && value >= 1),
  removeOldOutputFile: FLAG,
  commitOnClose: FLAG,
  lockTimeout: SECONDS,
  flush: FLAG,
};

/**
 * Events in a file of DASF: each is an 8-byte big-endian length and a msgpack map. Several processes, of Longpole and
 * DASF, may append to one file. Nothing is created before the first event is written.
 *
 * @source DASF, `FileDatabase`
 */
export class FileDatabase extends Printed implements EventDatabase {
  readonly file: string;
  readonly commitThreshold: number;
  readonly commitOnClose: boolean;
  readonly lockTimeout: number;
  readonly flush: boolean;
  #queue: DasfEvent[] = [];
  readonly #encoder = new DasfEncoder();
  readonly #flushAtExit = (): void => this.#commitAtExit();

  /**
   * Throws ERR_LONGPOLE_INVALID_ARGUMENT for a threshold below 1 or a negative timeout, and ERR_LONGPOLE_TRACE_FILE if
   * the old file cannot be removed.
   */
  constructor(file = 'traces.msgpack', options: FileDatabaseOptions = {}) {
    super();
    checkArgument('FileDatabase: file', file, TEXT);
    checkOptions('FileDatabase', options, FILE_DATABASE_OPTIONS);
    this.file = file;
    this.commitThreshold = options.commitThreshold ?? 5000;
    this.commitOnClose = options.commitOnClose ?? true;
    this.lockTimeout = options.lockTimeout ?? 30;
    this.flush = options.flush ?? true;
    if (options.removeOldOutputFile === true) removeFile(file);
  }

  /**
   * Queues an event. The event that fills the queue causes a write of all. Throws the errors of `commit`, and
   * ERR_LONGPOLE_INVALID_ARGUMENT for an event that readers would drop.
   */
  record(event: DasfEvent): void {
    checkArgument('FileDatabase.record: name', event.name, TEXT);
    checkArgument('FileDatabase.record: phase', event.phase, TEXT);
    checkArgument('FileDatabase.record: timestamp', event.timestamp, FINITE);
    if (event instanceof CompleteEvent)
      checkArgument('FileDatabase.record: duration', event.duration, FINITE);
    const queued = this.#queue.push(event);
    if (queued === 1 && this.commitOnClose) flushAtExit(this.#flushAtExit);
    if (queued >= this.commitThreshold) this.commit();
  }

  /**
   * Writes the queued events. Throws ERR_LONGPOLE_LOCK_TIMEOUT if other processes hold the lock, and
   * ERR_LONGPOLE_TRACE_FILE if the file cannot be written. The events stay queued then, and the file is unchanged.
   * Throws ERR_LONGPOLE_INVALID_ARGUMENT for an event whose arguments msgpack cannot hold, e.g. a symbol, or readers drop. Only this event
   * leaves the queue then.
   */
  commit(): void {
    if (this.#queue.length === 0) return;
    this.#encoder.clear();
    for (const event of this.#queue) this.#encode(event);
    appendBytes(this.file, this.#encoder.bytes, this.lockTimeout, this.flush);
    this.#queue = [];
    nothingToFlush(this.#flushAtExit);
  }

  #encode(event: DasfEvent): void {
    try {
      this.#encoder.add(event);
    } catch (cause) {
      this.#queue = this.#queue.filter((one) => one !== event);
      throw new LongpoleError(
        'ERR_LONGPOLE_INVALID_ARGUMENT',
        `The event '${event.name}' cannot be written to ${this.file}, and was dropped: ${sentenceOf(cause)} Pass arguments that msgpack can hold. The other events are kept; commit() tries again.`,
        { cause },
      );
    }
  }

  /** Writes the queued events, or drops them if `commitOnClose` is false. */
  close(): void {
    if (this.commitOnClose) this.commit();
    this.#queue = [];
    nothingToFlush(this.#flushAtExit);
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /**
   * Yields the events in the file, in order, then the queued ones. Damaged parts are omitted; `readInto` reports
   * them. Throws ERR_LONGPOLE_TRACE_FILE if there is neither a file nor a queued event.
   */
  *getTraces(): Generator<DasfEvent> {
    const queue = this.#queue;
    if (this.#hasFile()) {
      const reader = new DasfEventReader();
      for (const _ of readInChunks(this.file, reader)) yield* reader.take();
    }
    // If the queue was written during the loop, the file had its events.
    if (queue === this.#queue) yield* queue.slice();
  }

  readInto(builder: TraceBuilder): void {
    if (this.#hasFile()) readWhole(this.file, new DasfReader(builder));
    for (const event of this.#queue) addEvent(builder, event);
  }

  /** Returns whether to read the file. A missing file is an error if no events are queued. */
  #hasFile(): boolean {
    return this.#queue.length === 0 || existsSync(this.file);
  }

  override toString(): string {
    return visibleText(`FileDatabase at ${this.file}`);
  }

  #commitAtExit(): void {
    for (let before = 0; this.#queue.length !== before; ) {
      before = this.#queue.length;
      try {
        this.commit();
      } catch (error) {
        const lost = before - this.#queue.length || before;
        warnAtExit(`${lost} events of ${this.file} are lost: ${String(error)}`);
      }
    }
  }
}

function removeFile(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch (cause) {
    throw notWrittenError(file, cause);
  }
}

/** Appends all of the bytes, or none of them. */
function appendBytes(file: string, bytes: Uint8Array, lockTimeout: number, flush: boolean): void {
  let fd: number | undefined;
  try {
    const handle = openSync(file, 'a');
    fd = handle;
    withAppendLock(file, handle, lockTimeout, () => {
      const { size } = fstatSync(handle);
      try {
        writeFileSync(handle, bytes);
        if (flush) fsyncSync(handle);
      } catch (error) {
        ftruncateSync(handle, size);
        throw error;
      }
    });
  } catch (cause) {
    if (cause instanceof LongpoleError) throw cause;
    throw new LongpoleError(
      'ERR_LONGPOLE_TRACE_FILE',
      `${notWrittenText(file, cause)} The events are kept; commit() tries again.`,
      { cause },
    );
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** Exit code of flock when another process held the lock all the time. */
const TIMED_OUT = 75;
/** Milliseconds between two polls of a lock file. */
const POLL = 20;

let flockWorks: boolean | undefined;

/**
 * Runs `write` while no other process appends to `file`, which is open as `fd`. Throws ERR_LONGPOLE_LOCK_TIMEOUT.
 *
 * DASF locks a file with flock(2), which Node cannot call. The command `flock` of Linux can. A lock belongs to the open
 * file, not to the process. So the lock that the command takes on an inherited descriptor stays when the command ends,
 * and is released when the file is closed, even after a crash. Without the command, a second file is the lock; it
 * excludes Longpole's processes, not DASF's.
 */
function withAppendLock(file: string, fd: number, timeout: number, write: () => void): void {
  if (flockWorks !== false && lockByCommand(file, fd, timeout)) {
    // Closing the file unlocks it.
    write();
    return;
  }
  const lock = `${file}.lock`;
  lockByFile(file, lock, timeout);
  try {
    write();
  } finally {
    rmSync(lock, { force: true });
  }
}

/**
 * Locks by the command. Returns false if the system has no such command, or it cannot lock this file.
 *
 * @throws the error of a command that did not start or end, e.g. because the system has no process left: a second file as
 *   the lock would not exclude processes that use the command
 */
function lockByCommand(file: string, fd: number, timeout: number): boolean {
  const wait = ['-x', '-w', String(Math.max(0, timeout)), '-E', String(TIMED_OUT), '3'];
  const { status, signal, error } = spawnSync('flock', wait, { stdio: ['ignore', 'ignore', 'ignore', fd] });
  if (status === TIMED_OUT) throw timeoutError(file, timeout, '');
  const isMissing = ['ENOENT', 'EACCES'].includes(String(fieldOf(error, 'code')));
  if (status === null && !isMissing) throw error ?? new Error(`The command flock was ended by ${signal}`);
  flockWorks = status === 0;
  return flockWorks;
}

function lockByFile(file: string, lock: string, timeout: number): void {
  const end = performance.now() + timeout * 1000;
  for (;;) {
    try {
      writeFileSync(lock, String(process.pid), { flag: 'wx' });
      return;
    } catch (error) {
      if (fieldOf(error, 'code') !== 'EEXIST') throw error;
    }
    if (ownerIsGone(lock)) rmSync(lock, { force: true });
    else if (performance.now() >= end)
      throw timeoutError(file, timeout, ` If no other process runs, delete ${lock}.`);
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, POLL);
  }
}

/** Returns whether the process that made the lock file has ended. A file without a number is still being written. */
function ownerIsGone(lock: string): boolean {
  try {
    const owner = Number(readFileSync(lock, 'utf8'));
    if (!(owner > 0)) return Date.now() - statSync(lock).mtimeMs > 10_000;
    process.kill(owner, 0);
    return false;
  } catch (error) {
    return fieldOf(error, 'code') === 'ESRCH';
  }
}

function timeoutError(file: string, timeout: number, hint: string): LongpoleError {
  return new LongpoleError(
    'ERR_LONGPOLE_LOCK_TIMEOUT',
    `Another process has been writing to ${file} for ${timeout} s. The events are kept; commit() tries again.${hint}`,
  );
}
