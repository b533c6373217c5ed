// The results of one worker: in memory while there is room, then on disk, the least recently used ones first. The
// store does not decide when to spill; the memory monitor calls `spill`. The store owns its spill files.
import { dirname } from 'node:path';
import { internalError, isError, LongpoleError, messageOf } from '../../base/errors.js';
import { megabytes } from '../../base/words.js';
import type { TaskKind } from '../../protocol/metrics.js';
import { type PackedResult, packedBytes, type ResultId } from '../../protocol/packedResult.js';
import { weigh } from '../worker/sharedWeight.js';
import {
  nodeFiles,
  readSpillFile,
  type SpillContext,
  type SpillFiles,
  type SpillPlace,
  type StoreInterval,
  writeSpillFile,
} from './spillFile.js';

export interface StoreOptions {
  /** Returns the path of a file in an existing directory, e.g. a SpillDirectory's. */
  readonly file: (name: string) => string;
  /** Prefix of its file names; different for stores that share a directory. */
  readonly name: string;
  /** Returns the time in seconds, for intervals. */
  readonly now: () => number;
  /** `cause` is the kind of the task that needed the result; undefined if none did. */
  readonly onInterval?: (interval: StoreInterval, cause?: TaskKind) => void;
  /** Called when a result is only on disk. */
  readonly onSpilled?: (id: ResultId) => void;
  /** Called when a result cannot be read back. */
  readonly onError?: (error: LongpoleError) => void;
  /** Called when spilling has failed. Nothing is lost. Called again only after a successful attempt. */
  readonly onSpillFailed?: (error: LongpoleError) => void;
  /** Seconds between a failed attempt to spill and the next. Default: 2. */
  readonly retryAfter?: number;
  readonly files?: SpillFiles;
}

/** A file on disk, removed when none of its results is needed any more. */
interface SharedFile {
  readonly path: string;
  users: number;
}

interface Copy {
  readonly file: SharedFile;
  readonly place: SpillPlace;
}

interface Entry {
  readonly id: ResultId;
  /** Bytes of the result in memory. */
  readonly nbytes: number;
  /** Undefined while the result is only on disk. */
  packed: PackedResult | undefined;
  /** Copy on disk. Results do not change, so a copy stays valid after the result is read back. */
  copy: Copy | undefined;
  reading: Promise<PackedResult> | undefined;
  /** Number of uses. */
  used: number;
}

/** An attempt to write results of `nbytes` that failed. */
interface Failure {
  readonly cause: unknown;
  readonly nbytes: number;
}

/** Bytes of least recently used results that share a file. */
const BATCH_BYTES = 4 * 2 ** 20;

export class Store {
  readonly #options: StoreOptions;
  readonly #files: SpillFiles;
  /** Results in memory, in the order of their last use. */
  readonly #inMemory = new Map<ResultId, Entry>();
  readonly #onDisk = new Map<ResultId, Entry>();
  readonly #pending = new Set<Promise<unknown>>();
  /** Bytes of the results in memory. */
  managedBytes = 0;
  /** Bytes on disk of results that are not in memory. */
  spilledBytes = 0;
  #uses = 0;
  #fileCount = 0;
  #closed = false;
  /** Target of the running attempt. */
  #target = Number.POSITIVE_INFINITY;
  #spilling: Promise<void> | undefined;
  #retryAt = Number.NEGATIVE_INFINITY;
  /** Number of failed attempts to spill. */
  spillFailures = 0;
  /** Reason of the last failed attempt; undefined if it succeeded. */
  spillFailure: LongpoleError | undefined;

  constructor(options: StoreOptions) {
    this.#options = options;
    this.#files = options.files ?? nodeFiles;
  }

  get memoryCount(): number {
    return this.#inMemory.size;
  }

  /** Number of results that are only on disk. */
  get spilledCount(): number {
    return this.#onDisk.size;
  }

  /** True if spilling failed recently, so that it is not tried now. */
  get spillPaused(): boolean {
    return this.#options.now() < this.#retryAt;
  }

  /** True while results are being written. */
  get isSpilling(): boolean {
    return this.#spilling !== undefined;
  }

  /** Keeps a result, and replaces one with the same id. */
  put(id: ResultId, packed: PackedResult): void {
    this.delete(id);
    if (this.#closed) return;
    for (const { buffer } of packed.buffers) if (buffer instanceof SharedArrayBuffer) weigh(buffer);
    const entry: Entry = {
      id,
      nbytes: packedBytes(packed),
      packed,
      copy: undefined,
      reading: undefined,
      used: ++this.#uses,
    };
    this.#inMemory.set(id, entry);
    this.managedBytes += entry.nbytes;
  }

  /** Returns whether the result is here and only on disk. */
  isSpilled(id: ResultId): boolean {
    return this.#onDisk.has(id);
  }

  has(id: ResultId): boolean {
    return this.#inMemory.has(id) || this.#onDisk.has(id);
  }

  /**
   * Returns a packed result; a promise if they must be read from disk, undefined if the result is not here.
   * `cause` is the kind of the task that needs the result.
   *
   * @throws LongpoleError ERR_LONGPOLE_SPILL_FILE (rejects) if the file is missing or damaged; the result is lost
   * then
   */
  get(id: ResultId, cause?: TaskKind): PackedResult | Promise<PackedResult> | undefined {
    const entry = this.#inMemory.get(id);
    if (entry?.packed !== undefined) {
      entry.used = ++this.#uses;
      this.#inMemory.delete(id);
      this.#inMemory.set(id, entry);
      return entry.packed;
    }
    const spilled = this.#onDisk.get(id);
    if (spilled === undefined) return undefined;
    spilled.reading ??= this.#track(this.#readBack(spilled, cause));
    return spilled.reading;
  }

  /** Returns like `get`, and undefined for a result that cannot be read back, which `onError` reports. */
  read(id: ResultId, cause?: TaskKind): PackedResult | Promise<PackedResult | undefined> | undefined {
    const found = this.get(id, cause);
    return found instanceof Promise ? found.catch(() => undefined) : found;
  }

  delete(id: ResultId): void {
    const entry = this.#inMemory.get(id);
    if (entry !== undefined) {
      this.#inMemory.delete(id);
      this.managedBytes -= entry.nbytes;
      this.#dropCopy(entry);
      return;
    }
    const spilled = this.#onDisk.get(id);
    if (spilled === undefined) return;
    this.#onDisk.delete(id);
    this.spilledBytes -= diskBytes(spilled);
    this.#dropCopy(spilled);
  }

  /**
   * Moves results to disk, the least recently used first, until at most `untilBytes` are in memory. Returns whether
   * that was reached. It is not reached if the disk is full, or if all results are in use. A call during another one
   * continues to the lower of both numbers. Never rejects.
   */
  async spill(untilBytes: number): Promise<boolean> {
    this.#target = Math.min(this.#target, untilBytes);
    this.#spilling ??= this.#track(this.#spillAll()).finally(() => {
      this.#spilling = undefined;
      this.#target = Number.POSITIVE_INFINITY;
    });
    await this.#spilling;
    return this.managedBytes <= untilBytes;
  }

  /** Discards all results and removes their files, after pending reads and writes. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const id of [...this.#inMemory.keys(), ...this.#onDisk.keys()]) this.delete(id);
    while (this.#pending.size > 0) await Promise.allSettled(this.#pending);
  }

  async #spillAll(): Promise<void> {
    while (this.managedBytes > this.#target && !this.#closed) {
      const batch = this.#leastUsed();
      if (batch.length === 0 || this.spillPaused) return;
      await this.#spillBatch(batch);
    }
  }

  /** Spills a batch. If the disk has no room for the batch, it may have room for a part. */
  async #spillBatch(batch: readonly Entry[]): Promise<void> {
    let failure = await this.#writeOut(batch);
    if (failure !== undefined && batch.length > 1) {
      for (const entry of batch) {
        failure = await this.#writeOut([entry]);
        if (failure !== undefined) break;
      }
    }
    if (failure === undefined) this.spillFailure = undefined;
    else await this.#writingFailed(failure);
  }

  /** Evicts results that have a copy on disk, and returns those to be written next. */
  #leastUsed(): Entry[] {
    const batch: Entry[] = [];
    let bytes = 0;
    for (const entry of this.#inMemory.values()) {
      if (this.managedBytes - bytes <= this.#target || bytes >= BATCH_BYTES) break;
      if (entry.copy !== undefined) this.#evict(entry);
      else {
        batch.push(entry);
        bytes += entry.nbytes;
      }
    }
    return batch;
  }

  async #writeOut(entries: readonly Entry[]): Promise<Failure | undefined> {
    const batch = entries.filter((entry) => this.#inMemory.get(entry.id) === entry);
    if (batch.length === 0) return undefined;
    const path = this.#options.file(`${this.#options.name}-${++this.#fileCount}.spill`);
    const results = batch.flatMap(({ id, packed }) => (packed === undefined ? [] : [{ id, packed }]));
    const uses = batch.map((entry) => entry.used);
    let places: readonly SpillPlace[];
    try {
      places = await writeSpillFile(path, results, this.#context());
    } catch (cause) {
      return { cause, nbytes: batch.reduce((sum, entry) => sum + entry.nbytes, 0) };
    }
    // The first user is the write itself, until all others are counted.
    const file = { path, users: 1 };
    batch.forEach((entry, index) => {
      if (this.#inMemory.get(entry.id) !== entry) return;
      file.users += 1;
      entry.copy = { file, place: places[index]! };
      if (entry.used === uses[index]) this.#evict(entry);
    });
    this.#release(file);
    return undefined;
  }

  async #writingFailed({ cause, nbytes }: Failure): Promise<void> {
    this.#retryAt = this.#options.now() + (this.#options.retryAfter ?? 2);
    // Removes copies of results that are still in memory, to make room on disk for others.
    for (const entry of this.#inMemory.values()) this.#dropCopy(entry);
    const folder = dirname(this.#options.file('any'));
    const room = await this.#files.statfs(folder).catch(() => undefined);
    const isNew = this.spillFailure === undefined;
    this.spillFailure = spillError(folder, nbytes, this, room, cause);
    this.spillFailures++;
    if (isNew) this.#options.onSpillFailed?.(this.spillFailure);
  }

  /** Evicts a result from memory; its copy stays on disk. */
  #evict(entry: Entry): void {
    entry.packed = undefined;
    this.#inMemory.delete(entry.id);
    this.#onDisk.set(entry.id, entry);
    this.managedBytes -= entry.nbytes;
    this.spilledBytes += diskBytes(entry);
    this.#options.onSpilled?.(entry.id);
  }

  async #readBack(entry: Entry, cause: TaskKind | undefined): Promise<PackedResult> {
    const { copy, id } = entry;
    if (copy === undefined) throw internalError(`Result ${id} is neither in memory nor on disk.`);
    copy.file.users += 1;
    try {
      const packed = await readSpillFile(copy.file.path, id, copy.place, this.#context(cause));
      if (this.#onDisk.get(id) === entry) {
        this.#onDisk.delete(id);
        this.spilledBytes -= diskBytes(entry);
        entry.packed = packed;
        entry.used = ++this.#uses;
        this.#inMemory.set(id, entry);
        this.managedBytes += entry.nbytes;
      }
      return packed;
    } catch (error) {
      if (this.#onDisk.get(id) === entry) this.delete(id);
      if (error instanceof LongpoleError) this.#options.onError?.(error);
      throw error;
    } finally {
      entry.reading = undefined;
      this.#release(copy.file);
    }
  }

  #dropCopy(entry: Entry): void {
    if (entry.copy === undefined) return;
    this.#release(entry.copy.file);
    entry.copy = undefined;
  }

  #release(file: SharedFile): void {
    file.users -= 1;
    // A file that cannot be removed now is removed with the directory.
    if (file.users === 0) this.#track(this.#files.unlink(file.path)).catch(() => undefined);
  }

  #context(cause?: TaskKind): SpillContext {
    const { now, onInterval } = this.#options;
    return { files: this.#files, now, onInterval: (interval) => onInterval?.(interval, cause) };
  }

  /** Registers work for which `close` waits. */
  #track<T>(work: Promise<T>): Promise<T> {
    const done: Promise<unknown> = work.catch(() => undefined).then(() => this.#pending.delete(done));
    this.#pending.add(done);
    return work;
  }
}

function diskBytes({ copy }: Entry): number {
  return copy === undefined ? 0 : copy.place.partBytes + copy.place.tableBytes;
}

/** Codes for an exhausted disk, quota or limit on files. */
const FULL = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/**
 * Returns the error for results of `nbytes`. `room` is that of the folder's file system, in blocks of `bsize` bytes; undefined if
 * unknown.
 */
function spillError(
  folder: string,
  nbytes: number,
  { managedBytes, spilledBytes }: Store,
  room: { readonly bsize: number; readonly blocks: number; readonly bavail: number } | undefined,
  cause: unknown,
): LongpoleError {
  const why = messageOf(cause);
  const isFull = isError(cause) && 'code' in cause && FULL.has(String(cause.code));
  const free =
    room === undefined
      ? ''
      : ` ${megabytes(room.bavail * room.bsize)} of ${megabytes(room.blocks * room.bsize)} are free there.`;
  const message =
    `${megabytes(nbytes)} of results cannot be spilled to ${folder}: ${why}.${free} The worker keeps ${megabytes(managedBytes)} of results in memory and ` +
    `${megabytes(spilledBytes)} on disk. ` +
    (isFull
      ? 'Free space in that folder, pass a localDirectory on a larger disk, raise memoryLimit, or release results that are not needed.'
      : 'Pass a writable localDirectory, raise memoryLimit, or release results that are not needed.');
  return new LongpoleError(isFull ? 'ERR_LONGPOLE_DISK_FULL' : 'ERR_LONGPOLE_SPILL_WRITE', message, {
    cause,
  });
}
