// Scans the metadata of an Arrow IPC stream: columns, batches, the dictionaries of each batch, and damage.

import type { TraceDamage } from '../../../protocol/traceDamage.js';
import { damaged } from '../damage.js';
import {
  type ArrowCodec,
  type BatchMessage,
  type BufferPlace,
  type ByteSource,
  bufferPlace,
  readMessage,
  type SchemaField,
} from './arrowMessages.js';

/** Maximal ratio of unpacked to packed bytes in an LZ4 frame. Protects memory against damaged lengths. */
const LZ4_RATIO = 256;

export interface Field extends SchemaField {
  /** Index of its first node and first buffer in every batch. */
  readonly node: number;
  readonly buffer: number;
}

/** A part that could not be read. */
export type StreamDamage = Omit<TraceDamage, 'stretches'>;

/**
 * Checks that the buffers of a column can hold its rows, without reading them. Prevents allocations for impossible row
 * counts.
 */
export function checkLengths(message: BatchMessage, { type, node, buffer }: Field): void {
  const { rows, nodes, compressed } = message;
  if (nodes[node * 2] !== rows) damaged('a column and its batch have different lengths');
  const needed = type === 'utf8' || type === 'utf8-list' ? 4 : WIDTH[type];
  const size = bufferPlace(message, buffer + 1)?.size ?? 0;
  if (rows * needed > size * (compressed ? LZ4_RATIO : 1))
    damaged('a batch has more rows than its bytes can hold');
}

export const WIDTH = { float64: 8, int64: 8, int32: 4, uint8: 1, dictionary: 4 } as const;

/**
 * Returns the first `wanted` bytes of a buffer, unpacked if there is a codec. They are in `target` if that has room for
 * the whole buffer, and otherwise valid until the next read.
 */
export function readBuffer(
  source: ByteSource,
  { at, size }: BufferPlace,
  codec: ArrowCodec | undefined,
  wanted: number,
  target?: Uint8Array,
): Uint8Array {
  const bytes = source.read(at, at + size);
  if (bytes.length < size) damaged('the file has become shorter');
  if (codec === undefined)
    return size < wanted ? damaged('a buffer is too short') : bytes.subarray(0, wanted);
  if (size < 8) damaged('a buffer is too short');
  const prefix = new DataView(bytes.buffer, bytes.byteOffset, 8).getBigInt64(0, true);
  const packed = bytes.subarray(8);
  if (prefix === -1n)
    return packed.length < wanted ? damaged('a buffer is too short') : packed.subarray(0, wanted);
  const unpackedSize = Number(prefix);
  if (!(unpackedSize >= wanted) || unpackedSize > packed.length * LZ4_RATIO)
    damaged('a buffer has an impossible length');
  const unpacked =
    target !== undefined && unpackedSize <= target.length
      ? target.subarray(0, unpackedSize)
      : new Uint8Array(unpackedSize);
  try {
    codec.decompress(packed, unpacked);
  } catch {
    return damaged('a buffer cannot be unpacked');
  }
  return unpacked.subarray(0, wanted);
}

/**
 * Returns the stated unpacked size of all buffers of the batches and their dictionaries. A dictionary counts once. An
 * impossible size counts as 0, because `readBuffer` refuses it. Unpacks nothing; cost: a read of 8 bytes per buffer.
 */
export function unpackedBytes(source: ByteSource, { batches, dictionaries }: Scan): number {
  let sum = 0;
  const messages = new Set(batches);
  for (const used of new Set(dictionaries.values()))
    for (const message of used.values()) messages.add(message);
  for (const { buffers, compressed } of messages) {
    for (let i = 0; compressed && i < buffers.length; i += 2) {
      const [at, size] = [buffers[i]!, buffers[i + 1]!];
      if (size < 8) continue;
      const bytes = source.read(at, at + 8);
      // The file has become shorter.
      if (bytes.length < 8) continue;
      const unpacked = Number(new DataView(bytes.buffer, bytes.byteOffset, 8).getBigInt64(0, true));
      if (unpacked > 0 && unpacked <= (size - 8) * LZ4_RATIO) sum += unpacked;
    }
  }
  return sum;
}

export interface Scan {
  readonly fields: ReadonlyMap<string, Field>;
  readonly batches: BatchMessage[];
  readonly dictionaries: Map<BatchMessage, ReadonlyMap<number, BatchMessage>>;
  readonly damage: StreamDamage[];
}

/** Reads the metadata of all messages up to the first unreadable one. */
export function scanStream(source: ByteSource): Scan {
  const batches: BatchMessage[] = [];
  const dictionaries: Scan['dictionaries'] = new Map();
  const damage: StreamDamage[] = [];
  let fields: ReadonlyMap<string, Field> | undefined;
  let current: ReadonlyMap<number, BatchMessage> = new Map();
  for (let at = 0; ; ) {
    const message = readMessage(source, at);
    if (message.kind === 'end') {
      const { to, damage: reason } = message;
      if (reason !== undefined) damage.push({ offset: to, bytes: source.length - to, reason });
      return { fields: fields ?? new Map(), batches, dictionaries, damage };
    }
    if (message.kind === 'schema') {
      fields ??= placed(message.fields);
    } else if (fields === undefined) {
      damage.push({ offset: at, bytes: source.length - at, reason: 'it does not begin with a schema' });
      return { fields: new Map(), batches, dictionaries, damage };
    } else if (message.kind === 'dictionary') {
      current = new Map([...current, [message.id, message]]);
    } else {
      batches.push(message);
      dictionaries.set(message, current);
    }
    at = message.to;
  }
}

function placed(fields: readonly SchemaField[]): ReadonlyMap<string, Field> {
  const result = new Map<string, Field>();
  let [node, buffer] = [0, 0];
  for (const field of fields) {
    result.set(field.name, { ...field, node, buffer });
    node += field.type === 'utf8-list' ? 2 : 1;
    buffer += field.type === 'utf8-list' ? 5 : field.type === 'utf8' ? 3 : 2;
  }
  return result;
}
