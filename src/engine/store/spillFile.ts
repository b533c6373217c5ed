// A file with spilled results: written once, read result by result, and removed when none of them is needed any more.
// Small results share a file, because creating one costs more than writing a few kilobytes.
import { open, statfs, unlink } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { LongpoleError, sentenceOf } from '../../base/errors.js';
import type { WorkInterval } from '../../protocol/clusterObserver.js';
import type { Bytes, PackedResult, ResultId } from '../../protocol/packedResult.js';
import { emptyBuffer } from '../worker/shareBuffers.js';
import { compressParts, cut, decompressParts, PART_BYTES, type PackedPart, pays } from './compression.js';
import { decodeTable, encodeTable, type StoredBuffer, type StoredPart } from './spillTable.js';

/** The functions of a file system that a store needs; `node:fs/promises` has them. */
interface SpillHandle {
  write(bytes: Uint8Array, offset: number, length: number): Promise<{ bytesWritten: number }>;
  read(bytes: Uint8Array, offset: number, length: number, position: number): Promise<{ bytesRead: number }>;
  close(): Promise<void>;
}

export interface SpillFiles {
  open(path: string, flags: string, mode: number): Promise<SpillHandle>;
  unlink(path: string): Promise<void>;
  /** Returns the size of a path's file system, in blocks of `bsize` bytes. */
  statfs(path: string): Promise<{ bsize: number; blocks: number; bavail: number }>;
}

/** A WorkInterval without worker and thread. `task` is -1 if several results share a file. */
export type StoreInterval = Pick<WorkInterval, 'action' | 'start' | 'stop' | 'task' | 'nbytes'>;

export interface SpillContext {
  readonly files: SpillFiles;
  /** Returns the time in seconds. */
  readonly now: () => number;
  readonly onInterval: (interval: StoreInterval) => void;
}

/** Place of a result in its file: its parts, then their table. */
export interface SpillPlace {
  readonly offset: number;
  readonly partBytes: number;
  readonly tableBytes: number;
}

export const nodeFiles: SpillFiles = { open, unlink, statfs };

/** Bytes that are compressed before they are written, and read before they are decompressed. */
const GROUP_BYTES = 8 * PART_BYTES;
/** Bytes below which pieces are gathered, to save system calls. */
const STAGE_BYTES = 256 * 1024;
const FILE_MODE = 0o600;

/** Writes results into a new file, in order. Rejects with the system's error, and leaves no file then. */
export async function writeSpillFile(
  path: string,
  results: readonly { readonly id: ResultId; readonly packed: PackedResult }[],
  context: SpillContext,
): Promise<SpillPlace[]> {
  const handle = await context.files.open(path, 'wx', FILE_MODE);
  try {
    const writer = new SpillWriter(handle, context, results.length === 1 ? results[0]!.id : -1);
    const places: SpillPlace[] = [];
    for (const { id, packed } of results) places.push(await writer.result(id, packed));
    await writer.flush();
    await handle.close();
    return places;
  } catch (error) {
    await handle.close().catch(() => undefined);
    await context.files.unlink(path).catch(() => undefined);
    throw error;
  }
}

/** An open file. */
class SpillAccess {
  protected readonly handle: SpillHandle;
  protected readonly context: SpillContext;
  readonly #task: ResultId;

  constructor(handle: SpillHandle, context: SpillContext, task: ResultId) {
    this.handle = handle;
    this.context = context;
    this.#task = task;
  }

  protected report(action: StoreInterval['action'], start: number, nbytes: number): void {
    this.context.onInterval({ action, start, stop: this.context.now(), task: this.#task, nbytes });
  }
}

class SpillWriter extends SpillAccess {
  readonly #stage = Buffer.allocUnsafe(STAGE_BYTES);
  #staged = 0;
  /** Bytes of the file, including the stage. */
  #length = 0;
  #written = 0;

  async result(id: ResultId, { header, buffers }: PackedResult): Promise<SpillPlace> {
    const offset = this.#length;
    const stored: StoredBuffer[] = [];
    for (const bytes of [header, ...buffers]) stored.push(await this.#buffer(bytes));
    const partBytes = this.#length - offset;
    const table = encodeTable({ id, buffers: stored });
    await this.#append([table]);
    return { offset, partBytes, tableBytes: table.byteLength };
  }

  async #buffer(bytes: Bytes): Promise<StoredBuffer> {
    const compressed = pays(bytes);
    const parts: StoredPart[] = [];
    for (let at = 0; at < bytes.byteLength; at += GROUP_BYTES) {
      const group = bytes.subarray(at, at + GROUP_BYTES);
      const packed = compressed ? await this.#compress(group) : plainParts(group);
      for (const part of packed) {
        parts.push({
          nbytes: part.nbytes,
          stored: part.bytes.byteLength,
          checksum: crc32(part.bytes),
        });
      }
      await this.#append(packed.map((part) => part.bytes));
    }
    return { nbytes: bytes.byteLength, parts };
  }

  async #compress(group: Bytes): Promise<PackedPart[]> {
    const start = this.context.now();
    const parts = await compressParts(group);
    this.report('compress', start, group.byteLength);
    return parts;
  }

  async #append(pieces: readonly Bytes[]): Promise<void> {
    const start = this.context.now();
    const before = this.#written;
    for (const bytes of pieces) {
      this.#length += bytes.byteLength;
      if (this.#staged + bytes.byteLength > STAGE_BYTES) await this.#writeStage();
      if (bytes.byteLength > STAGE_BYTES) await this.#write(bytes);
      else {
        this.#stage.set(bytes, this.#staged);
        this.#staged += bytes.byteLength;
      }
    }
    if (this.#written > before) this.report('disk-write', start, this.#written - before);
  }

  async flush(): Promise<void> {
    const start = this.context.now();
    const nbytes = this.#staged;
    await this.#writeStage();
    if (nbytes > 0) this.report('disk-write', start, nbytes);
  }

  async #writeStage(): Promise<void> {
    const length = this.#staged;
    this.#staged = 0;
    if (length > 0) await this.#write(this.#stage.subarray(0, length));
  }

  async #write(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.byteLength; ) {
      const { bytesWritten } = await this.handle.write(bytes, at, bytes.byteLength - at);
      at += bytesWritten;
    }
    this.#written += bytes.byteLength;
  }
}

function plainParts(bytes: Bytes): PackedPart[] {
  return cut(bytes).map((piece) => ({ bytes: piece, nbytes: piece.byteLength }));
}

/**
 * Reads a result, large buffers into shared memory.
 *
 * @throws LongpoleError ERR_LONGPOLE_SPILL_FILE if the file is missing, truncated or damaged
 */
export async function readSpillFile(
  path: string,
  id: ResultId,
  place: SpillPlace,
  context: SpillContext,
): Promise<PackedResult> {
  try {
    const handle = await context.files.open(path, 'r', FILE_MODE);
    try {
      return await new SpillReader(handle, context, id).result(id, place);
    } finally {
      await handle.close();
    }
  } catch (cause) {
    throw new LongpoleError(
      'ERR_LONGPOLE_SPILL_FILE',
      `A result that had been spilled cannot be read back from ${path}: ` +
        `${sentenceOf(cause)} It is computed again. Keep other programs away from this folder, and check its disk.`,
      { cause },
    );
  }
}

class SpillReader extends SpillAccess {
  #position = 0;
  /** All bytes of a small result, which start at `#start` in the file. */
  #whole = new Uint8Array();
  #start = 0;

  async result(id: ResultId, { offset, partBytes, tableBytes }: SpillPlace): Promise<PackedResult> {
    if (partBytes + tableBytes <= STAGE_BYTES) await this.#readWhole(offset, partBytes + tableBytes);
    this.#position = offset + partBytes;
    const table = Buffer.alloc(tableBytes);
    await this.#read(table);
    const stored = decodeTable(table, id);
    if (stored === undefined) throw new Error('its table is damaged');
    this.#position = offset;
    const read: Bytes[] = [];
    for (const one of stored) read.push(await this.#buffer(one));
    const [header, ...buffers] = read;
    if (header === undefined) throw new Error('it has no header');
    return { header, buffers };
  }

  async #buffer({ nbytes, parts }: StoredBuffer): Promise<Bytes> {
    const whole = emptyBuffer(nbytes);
    let at = 0;
    for (let first = 0; first < parts.length; ) {
      const group: StoredPart[] = [];
      let length = 0;
      for (; first < parts.length && length < GROUP_BYTES; first++) {
        group.push(parts[first]!);
        length += parts[first]!.nbytes;
      }
      await this.#group(group, whole.subarray(at, at + length));
      at += length;
    }
    if (at !== nbytes) throw new Error('its table is damaged');
    return whole;
  }

  /** Reads parts that were not compressed into their places. */
  async #group(parts: readonly StoredPart[], target: Bytes): Promise<void> {
    const packed: PackedPart[] = [];
    const start = this.context.now();
    const from = this.#position;
    let at = 0;
    for (const { nbytes, stored, checksum: expected } of parts) {
      const bytes = stored === nbytes ? target.subarray(at, at + nbytes) : new Uint8Array(stored);
      await this.#read(bytes);
      if (crc32(bytes) !== expected) throw new Error('its bytes have changed');
      packed.push({ bytes, nbytes });
      at += nbytes;
    }
    if (this.#whole.byteLength === 0) this.report('disk-read', start, this.#position - from);
    if (packed.every(({ bytes, nbytes }) => bytes.byteLength === nbytes)) return;
    const decompressing = this.context.now();
    await decompressParts(packed, target);
    this.report('decompress', decompressing, target.byteLength);
  }

  async #readWhole(offset: number, length: number): Promise<void> {
    const whole = new Uint8Array(length);
    const start = this.context.now();
    this.#position = offset;
    await this.#read(whole);
    this.report('disk-read', start, length);
    this.#whole = whole;
    this.#start = offset;
  }

  async #read(bytes: Uint8Array): Promise<void> {
    if (this.#whole.byteLength > 0) {
      const at = this.#position - this.#start;
      bytes.set(this.#whole.subarray(at, at + bytes.byteLength));
      this.#position += bytes.byteLength;
      return;
    }
    for (let at = 0; at < bytes.byteLength; ) {
      const { bytesRead } = await this.handle.read(bytes, at, bytes.byteLength - at, this.#position);
      if (bytesRead === 0) throw new Error('it is shorter than it was');
      at += bytesRead;
      this.#position += bytesRead;
    }
  }
}
