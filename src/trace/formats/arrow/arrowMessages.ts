// Parses the messages of an Arrow IPC stream: their positions, kinds and buffers. Reads no body.
import { DamagedBytes, damaged } from '../damage.js';
import { FlatTable } from './flatTable.js';

/** Bytes of a file, in memory or on a disk. */
export interface ByteSource {
  readonly length: number;
  /** Returns bytes `[from .. to)`, or fewer if the file has become shorter. Valid until the next call. */
  read(from: number, to: number): Uint8Array;
}

export function memorySource(bytes: Uint8Array): ByteSource {
  return { length: bytes.length, read: (from, to) => bytes.subarray(from, to) };
}

export interface BufferPlace {
  readonly at: number;
  readonly size: number;
}

export interface BatchMessage {
  readonly kind: 'batch' | 'dictionary';
  readonly from: number;
  readonly to: number;
  /** Id of the dictionary, for dictionaries. */
  readonly id: number;
  readonly rows: number;
  readonly compressed: boolean;
  /** Rows and nulls by column, in turn. The columns inside a list follow the list. */
  readonly nodes: Float64Array;
  /** Offset and size by buffer, in turn. A typed array, because a large trace has 100,000 buffers. */
  readonly buffers: Float64Array;
}

/** Returns the position of a buffer, or undefined if the message has fewer buffers. */
export function bufferPlace({ buffers }: BatchMessage, buffer: number): BufferPlace | undefined {
  if (buffer * 2 >= buffers.length) return undefined;
  return { at: buffers[buffer * 2]!, size: buffers[buffer * 2 + 1]! };
}

export function nullsOf({ nodes }: BatchMessage, node: number): number {
  return nodes[node * 2 + 1] ?? 0;
}

export interface SchemaField extends ArrowField {
  /** Id of the dictionary, or -1. */
  readonly dictionary: number;
}

export interface SchemaMessage {
  readonly kind: 'schema';
  readonly to: number;
  readonly fields: readonly SchemaField[];
}

export interface StreamEnd {
  readonly kind: 'end';
  /** End of the readable bytes. */
  readonly to: number;
  /** Reason of the damage; undefined if the stream was closed. */
  readonly damage: string | undefined;
}

const METADATA_LIMIT = 1 << 24;

/** Returns the message at `at`. Unreadable bytes end the stream; this never throws. */
export function readMessage(source: ByteSource, at: number): SchemaMessage | BatchMessage | StreamEnd {
  try {
    if (at === source.length) return { kind: 'end', to: at, damage: 'it was not closed' };
    const prefix = source.read(at, at + 8);
    if (prefix.length < 8) damaged('the last message is not complete');
    const view = new DataView(prefix.buffer, prefix.byteOffset, 8);
    if (view.getUint32(0, true) !== CONTINUATION) damaged('a message has no marker');
    const size = view.getUint32(4, true);
    if (size === 0) {
      return at + 8 === source.length
        ? { kind: 'end', to: at + 8, damage: undefined }
        : { kind: 'end', to: at + 8, damage: 'there are bytes after its end' };
    }
    if (size > METADATA_LIMIT) damaged('a message has an impossible length');
    const bytes = source.read(at + 8, at + 8 + size).slice();
    if (bytes.length < size) damaged('the last message is not complete');
    return parsed(bytes, source.length, at, at + 8 + size);
  } catch (error) {
    if (error instanceof DamagedBytes) return { kind: 'end', to: at, damage: error.message };
    throw error;
  }
}

function parsed(bytes: Uint8Array, length: number, from: number, body: number): SchemaMessage | BatchMessage {
  const message = FlatTable.root(bytes);
  const header = message.table(2) ?? damaged('a message has no content');
  const to = body + message.size(3);
  if (to > length) damaged('the last message is not complete');
  switch (message.uint8(1)) {
    case HEADER.schema:
      return { kind: 'schema', to, fields: header.tables(1).map(schemaField) };
    case HEADER.batch:
      return { kind: 'batch', from, to, id: -1, ...batchParts(header, body, to) };
    case HEADER.dictionary: {
      if (header.uint8(2) !== 0) damaged('it has a partial dictionary, which Longpole does not write');
      const data = header.table(1) ?? damaged('a dictionary has no content');
      return { kind: 'dictionary', from, to, id: header.size(0), ...batchParts(data, body, to) };
    }
    default:
      return damaged('a message is of a kind that Longpole does not write');
  }
}

function batchParts(
  batch: FlatTable,
  body: number,
  to: number,
): Pick<BatchMessage, 'rows' | 'compressed' | 'nodes' | 'buffers'> {
  const compression = batch.table(3);
  if (compression !== undefined && (compression.uint8(0) !== LZ4_FRAME || compression.uint8(1) !== 0))
    damaged('it has a compression that Longpole does not use');
  const buffers = batch.pairs(2);
  for (let i = 0; i < buffers.length; i += 2) {
    buffers[i]! += body;
    if (buffers[i]! + buffers[i + 1]! > to) damaged('a buffer reaches beyond its message');
  }
  const rows = batch.size(0);
  if (rows >= 2 ** 31) damaged('a batch has an impossible number of rows');
  return { rows, compressed: compression !== undefined, nodes: batch.pairs(1), buffers };
}

function schemaField(field: FlatTable): SchemaField {
  const name = field.text(0);
  const encoding = field.table(4);
  const type = arrowType(field);
  if (encoding === undefined) return { name, type, dictionary: -1 };
  const index = encoding.table(1);
  if (type !== 'utf8' || (index !== undefined && index.int32(0) !== 32))
    damaged(`its column '${name}' is of a type that Longpole does not write`);
  return { name, type: 'dictionary', dictionary: encoding.size(0) };
}

function arrowType(field: FlatTable): ArrowType {
  const type = field.table(3);
  switch (field.uint8(2)) {
    case TYPE.int: {
      const bits = type?.int32(0);
      if (bits === 64) return 'int64';
      if (bits === 32) return 'int32';
      if (bits === 8) return 'uint8';
      break;
    }
    case TYPE.float:
      if (type?.int16(0) === DOUBLE) return 'float64';
      break;
    case TYPE.utf8:
      return 'utf8';
    case TYPE.list:
      if (field.tables(5)[0]?.uint8(2) === TYPE.utf8) return 'utf8-list';
      break;
  }
  return damaged(`its column '${field.text(0)}' is of a type that Longpole does not write`);
}

/**
 * - `float64`: NaN is stored as NaN, not as null.
 * - `int64`, `int32`: a negative value is null.
 * - `uint8`: never null.
 * - `utf8`: one text per row.
 * - `dictionary`: texts with few distinct values.
 * - `utf8-list`: several texts per row.
 */
export type ArrowType = 'float64' | 'int64' | 'int32' | 'uint8' | 'utf8' | 'dictionary' | 'utf8-list';

export interface ArrowField {
  readonly name: string;
  readonly type: ArrowType;
}

/** Values of a column by its type. Arrays may be longer than the batch. */
export type ArrowValues =
  | { readonly type: 'float64'; readonly values: Float64Array }
  | { readonly type: 'int64'; readonly values: Float64Array }
  | { readonly type: 'int32'; readonly values: Int32Array }
  | { readonly type: 'uint8'; readonly values: Uint8Array }
  | { readonly type: 'utf8'; readonly values: readonly (string | null)[] }
  /** Indices into `texts`, -1 for null. `generation` changes when `texts` is replaced. */
  | {
      readonly type: 'dictionary';
      readonly values: Int32Array;
      readonly texts: readonly string[];
      readonly generation: number;
    }
  | { readonly type: 'utf8-list'; readonly values: readonly (readonly string[])[] };

/** Compresses single buffers as LZ4 frames, which every Arrow library reads. */
export interface ArrowCodec {
  compress(bytes: Uint8Array): Uint8Array;
  /** Unpacks `bytes` into `target`. Throws any error if the bytes are damaged or the result has another length. */
  decompress(bytes: Uint8Array, target: Uint8Array): void;
}

/** Marker of a message; a message without bytes ends a stream. */
export const CONTINUATION = 0xffffffff;

/** Arrow's numbers for kinds of messages. */
export const HEADER = { schema: 1, dictionary: 2, batch: 3 } as const;
/** Arrow's numbers for types. */
export const TYPE = { int: 2, float: 3, utf8: 5, list: 12 } as const;
/** Arrow's number for the precision of `float64`. */
export const DOUBLE = 2;
/** Arrow's number for LZ4 frames. */
export const LZ4_FRAME = 0;
