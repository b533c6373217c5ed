// Packs a result into bytes, and unpacks it. Large typed arrays become windows on shared memory. That needs one copy
// in the isolate that made them, none if they are shared already, and none between the threads of a process. V8's
// serializer writes everything else. So the result keeps what a structured clone keeps: cycles, Map, Set, Date,
// errors, views over one buffer.
import { DefaultDeserializer, DefaultSerializer } from 'node:v8';
import { internalError, LongpoleError, notCopyable } from '../../base/errors.js';
import type { Bytes, PackedResult } from '../../protocol/packedResult.js';
import { bareBuffers, SHALLOW, THOROUGH } from './bareBuffers.js';
import { notCloneable } from './notCloneable.js';
import { ownResult, VIEW_CLASSES } from './ownResult.js';
import { SHARE_BYTES, sharedCopy, viewClass } from './shareBuffers.js';
import { weigh } from './sharedWeight.js';

// A view is written as: kind, place, then either its window or its buffer. The window is the number of the memory,
// with byte offset and length in elements. The buffer is a value, with the same offset and length. Memories are
// numbered in the order of writing.
const IN_VALUE = 0;
const IN_WINDOW = 1;

// V8 writes a SharedArrayBuffer that is a value itself as a tag and one of our numbers, which Node cannot read back.
// So the tag is replaced by that of a host object, which this file reads. Numbers from here on are no kinds. As
// varints they take five bytes, so that tag and number can be found. If the value's own bytes contain the same six,
// other numbers are tried.
const FIRST_SHARED = 0xe000_0000;
const SHARED_TRIES = 64;
const SHARED_STEP = 0x0010_0000;
const TAG_SHARED_BUFFER = 0x75;
const TAG_HOST_OBJECT = 0x5c;
/** The tag is followed by the length as a varint and by the bytes. */
const TAG_ARRAY_BUFFER = 0x42;

/** Windows begin at a multiple of this, so that elements of every kind keep their alignment. */
const ALIGNMENT = 8;
/** Bytes per memory at the end of a header: first byte of the window, and its length if it is in the header itself. */
const MEMORY_BYTES = 16;
/** Values instead of that length: the next buffer of the packed result, as windows, or as the content of an ArrayBuffer. */
const IN_BUFFERS = -1;
const AS_ARRAY_BUFFER = -2;
/** Bytes for the number of memories. */
const COUNT_BYTES = 4;

interface Memory {
  readonly buffer: ArrayBuffer | SharedArrayBuffer;
  start: number;
  end: number;
}

/**
 * Packs a value. Shared memory is not copied: its buffers are windows.
 *
 * Of a large buffer, only the range that views in the value cover is kept. Class instances become plain objects and a
 * Buffer a Uint8Array, as in a structured clone.
 *
 * @throws DOMException DataCloneError if the value contains something that cannot be copied, e.g. a function
 */
export function packResult(value: unknown): PackedResult {
  const shallow = bareBuffers(value, SHALLOW);
  const packed = pack(value, shallow);
  // Bytes of buffers that the shallow search has missed would be copied again by the reader.
  if (!mayHoldBuffer(packed.header)) return packed;
  const all = bareBuffers(value, THOROUGH);
  return all.size === shallow.size ? packed : pack(value, all);
}

/**
 * Unpacks a value. Its typed arrays are windows on the memory of the packed result, which the value keeps alive.
 *
 * @throws LongpoleError ERR_LONGPOLE_RESULT_BYTES if the bytes are damaged
 */
export function unpackResult(packed: PackedResult): unknown {
  for (const { buffer } of [packed.header, ...packed.buffers]) {
    if (buffer instanceof SharedArrayBuffer) weigh(buffer);
  }
  try {
    return new ResultReader(packed).read();
  } catch (error) {
    if (error instanceof LongpoleError) throw error;
    throw damaged(error);
  }
}

function pack(value: unknown, bare: ReadonlySet<ArrayBuffer>): PackedResult {
  for (let attempt = 0; attempt < SHARED_TRIES; attempt++) {
    const packed = new ResultWriter(bare, FIRST_SHARED + attempt * SHARED_STEP).write(value);
    if (packed !== undefined) return packed;
  }
  throw internalError('No number was free for a shared buffer in a result.');
}

class ResultWriter extends DefaultSerializer {
  readonly #memories: Memory[] = [];
  readonly #numbers = new Map<ArrayBuffer | SharedArrayBuffer, number>();
  readonly #bare: ReadonlySet<ArrayBuffer>;
  readonly #firstShared: number;
  /** Numbers of the memories that are values themselves. */
  readonly #standing: number[] = [];

  constructor(bare: ReadonlySet<ArrayBuffer>, firstShared: number) {
    super();
    this.#bare = bare;
    this.#firstShared = firstShared;
    for (const buffer of bare) {
      this.transferArrayBuffer(this.#memory(buffer, 0, buffer.byteLength), buffer);
    }
  }

  /** Returns the packed value; undefined if the bytes contain the mark of a shared buffer by chance. */
  write(value: unknown): PackedResult | undefined {
    this.writeHeader();
    this.writeValue(value);
    const buffers = this.#writeMemories();
    const bytes = this.releaseBuffer();
    for (const number of this.#standing) {
      const at = markOf(bytes, this.#firstShared + number);
      if (at < 0) return undefined;
      bytes[at] = TAG_HOST_OBJECT;
    }
    const header = bytes.byteLength < SHARE_BYTES ? new Uint8Array(bytes.buffer) : sharedCopy(bytes);
    return { header, buffers };
  }

  _writeHostObject(object: object): void {
    if (!ArrayBuffer.isView(object)) {
      const name = object.constructor?.name ?? 'object';
      throw this._getDataCloneError(`#<${name}> could not be cloned.`);
    }
    const { buffer, byteOffset, byteLength } = object;
    const kind = kindOf(object);
    this.writeUint32(kind);
    const length = elements(object);
    if (isWindow(object) && !(buffer instanceof ArrayBuffer && this.#bare.has(buffer))) {
      this.writeUint32(IN_WINDOW);
      this.writeDouble(byteOffset);
      this.writeDouble(length);
      this.writeUint32(this.#memory(buffer, byteOffset, byteOffset + byteLength));
    } else {
      this.writeUint32(IN_VALUE);
      this.writeDouble(byteOffset);
      this.writeDouble(length);
      this.writeValue(buffer);
    }
  }

  /** Called once for every SharedArrayBuffer that is found other than through a view. */
  _getSharedArrayBufferId(buffer: SharedArrayBuffer): number {
    const number = this.#memory(buffer, 0, buffer.byteLength);
    this.#standing.push(number);
    return this.#firstShared + number;
  }

  _getDataCloneError(message: string): DOMException {
    return new DOMException(message, 'DataCloneError');
  }

  #memory(buffer: ArrayBuffer | SharedArrayBuffer, start: number, end: number): number {
    const known = this.#numbers.get(buffer);
    if (known === undefined) {
      this.#numbers.set(buffer, this.#memories.length);
      return this.#memories.push({ buffer, start, end }) - 1;
    }
    const memory = this.#memories[known]!;
    memory.start = Math.min(memory.start, start);
    memory.end = Math.max(memory.end, end);
    return known;
  }

  #writeMemories(): Bytes[] {
    const buffers: Bytes[] = [];
    const table = new DataView(new ArrayBuffer(this.#memories.length * MEMORY_BYTES + COUNT_BYTES));
    this.#memories.forEach(({ buffer, start, end }, index) => {
      const first = start - (start % ALIGNMENT);
      let inside = IN_BUFFERS;
      if (buffer instanceof SharedArrayBuffer) {
        weigh(buffer);
        buffers.push(new Uint8Array(buffer, first, end - first));
      } else if (end - first < SHARE_BYTES) {
        this.writeRawBytes(new Uint8Array(buffer, first, end - first));
        inside = end - first;
      } else {
        if (this.#bare.has(buffer)) inside = AS_ARRAY_BUFFER;
        buffers.push(sharedCopy(new Uint8Array(buffer, first, end - first)));
      }
      table.setFloat64(index * MEMORY_BYTES, first, true);
      table.setFloat64(index * MEMORY_BYTES + 8, inside, true);
    });
    table.setUint32(table.byteLength - COUNT_BYTES, this.#memories.length, true);
    this.writeRawBytes(table);
    return buffers;
  }
}

class ResultReader extends DefaultDeserializer {
  readonly #packed: PackedResult;
  readonly #memories: { readonly bytes: Bytes; readonly first: number }[] = [];

  constructor(packed: PackedResult) {
    super(packed.header);
    this.#packed = packed;
  }

  read(): unknown {
    this.#readMemories();
    this.readHeader();
    return this.readValue();
  }

  _readHostObject(): unknown {
    const kind = this.readUint32();
    if (kind >= FIRST_SHARED) return this.#standing((kind - FIRST_SHARED) % SHARED_STEP);
    const place = this.readUint32();
    const offset = this.readDouble();
    const length = this.readDouble();
    if (place === IN_WINDOW) {
      const { bytes, first } = this.#memoryAt(this.readUint32());
      return makeView(kind, bytes.buffer, bytes.byteOffset + offset - first, length);
    }
    const buffer: unknown = this.readValue();
    if (buffer instanceof ArrayBuffer || buffer instanceof SharedArrayBuffer)
      return makeView(kind, buffer, offset, length);
    throw damaged();
  }

  /** Returns a shared buffer that is a value itself. Copies it only if the buffer is a part of its memory. */
  #standing(number: number): SharedArrayBuffer {
    const { bytes } = this.#memoryAt(number);
    if (bytes.buffer instanceof SharedArrayBuffer && bytes.byteLength === bytes.buffer.byteLength)
      return bytes.buffer;
    return sharedCopy(bytes).buffer;
  }

  #memoryAt(number: number): { readonly bytes: Bytes; readonly first: number } {
    const memory = this.#memories[number];
    if (memory === undefined) throw damaged();
    return memory;
  }

  #readMemories(): void {
    const { header, buffers } = this.#packed;
    const table = new DataView(header.buffer, header.byteOffset, header.byteLength);
    const count = table.getUint32(table.byteLength - COUNT_BYTES, true);
    const start = table.byteLength - COUNT_BYTES - count * MEMORY_BYTES;
    if (start < 0) throw damaged();
    const lengths = Array.from({ length: count }, (_, index) =>
      table.getFloat64(start + index * MEMORY_BYTES + 8, true),
    );
    let inside = start - lengths.reduce((sum, length) => sum + Math.max(0, length), 0);
    let next = 0;
    lengths.forEach((length, index) => {
      const first = table.getFloat64(start + index * MEMORY_BYTES, true);
      const bytes = length < 0 ? buffers[next++] : new Uint8Array(header.subarray(inside, inside + length));
      if (bytes === undefined || !(first >= 0) || inside < 0) throw damaged();
      inside += Math.max(0, length);
      this.#memories.push({ bytes: aligned(bytes), first });
      // A task that returned an ArrayBuffer gets one, not a SharedArrayBuffer: the only copy of the reading side.
      if (length === AS_ARRAY_BUFFER) this.transferArrayBuffer(index, new Uint8Array(bytes).buffer);
    });
  }
}

/** Returns whether a view becomes a window: views of large buffers, and Buffers, which are small windows on a pool. */
function isWindow(view: ArrayBufferView): boolean {
  return (
    view.buffer instanceof SharedArrayBuffer || view.buffer.byteLength >= SHARE_BYTES || Buffer.isBuffer(view)
  );
}

function kindOf(view: ArrayBufferView): number {
  const name = viewClass(view);
  const kind = VIEW_CLASSES.indexOf(name);
  if (kind < 0) throw new DOMException(`#<${name}> could not be cloned.`, 'DataCloneError');
  return kind;
}

function elements(view: ArrayBufferView): number {
  return 'length' in view && typeof view.length === 'number' ? view.length : view.byteLength;
}

function makeView(
  kind: number,
  buffer: ArrayBuffer | SharedArrayBuffer,
  offset: number,
  length: number,
): object {
  const Kind: unknown = Reflect.get(globalThis, VIEW_CLASSES[kind] ?? '');
  if (typeof Kind !== 'function') throw damaged();
  const view: unknown = Reflect.construct(Kind, [buffer, offset, length]);
  if (typeof view !== 'object' || view === null) throw damaged();
  return view;
}

/** Returns aligned bytes. Bytes that were cut from other memory may be unaligned. */
function aligned(bytes: Bytes): Bytes {
  if (bytes.byteOffset % ALIGNMENT === 0) return bytes;
  return bytes.buffer instanceof SharedArrayBuffer ? sharedCopy(bytes) : bytes.slice();
}

/** Returns the position of the number of a shared buffer in the bytes; -1 if the same bytes occur elsewhere too. */
function markOf(bytes: Buffer, number: number): number {
  const mark = [TAG_SHARED_BUFFER];
  let rest = number;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) mark.push((rest % 0x80) | 0x80);
  mark.push(rest);
  const pattern = Uint8Array.from(mark);
  const at = bytes.indexOf(pattern);
  return bytes.indexOf(pattern, at + 1) < 0 ? at : -1;
}

/**
 * Returns whether V8 may have written a large ArrayBuffer into the header: its tag and a fitting length. Cost: a
 * search for one byte; a search through the value would take longer than writing it did.
 */
function mayHoldBuffer(header: Bytes): boolean {
  const { byteLength } = header;
  if (byteLength < SHARE_BYTES) return false;
  for (let at = header.indexOf(TAG_ARRAY_BUFFER); at >= 0; at = header.indexOf(TAG_ARRAY_BUFFER, at + 1)) {
    let length = 0;
    let scale = 1;
    let next = at + 1;
    for (; header[next]! >= 0x80 && next < at + 9; next++, scale *= 0x80)
      length += (header[next]! & 0x7f) * scale;
    length += (header[next] ?? 0) * scale;
    if (length >= SHARE_BYTES && length < byteLength - next) return true;
  }
  return false;
}

function damaged(cause?: unknown): LongpoleError {
  return new LongpoleError(
    'ERR_LONGPOLE_RESULT_BYTES',
    'The bytes of a result cannot be read back: they are damaged, or another version of Node wrote them. ' +
      'Run one version of Node on all workers. If they already do, please report this error.',
    { cause },
  );
}

/**
 * Packs a value; `unpackResult` reverses it.
 *
 * @param what subject of the error's message, e.g. `Queue.put() of 'a': the value`. Default: a result of a task
 * @throws LongpoleError ERR_LONGPOLE_NOT_CLONEABLE if the value cannot be copied
 */
export function packValue(value: unknown, what?: string): PackedResult {
  try {
    return packResult(ownResult(value));
  } catch (error) {
    if (what === undefined) throw notCloneable(error);
    const instead = 'Pass plain data, and create other objects from it where they are used.';
    throw notCopyable(`${what} cannot be copied`, error, instead);
  }
}
