// A result outside its isolate: bytes that can be kept, spilled or sent without being understood. The isolate that
// computed the result packs it, and the isolate that needs it unpacks it. All parts of the engine between them move
// packed results.

/** Bytes over private or shared memory. */
export type Bytes = Uint8Array<ArrayBuffer> | Uint8Array<SharedArrayBuffer>;

export interface PackedResult {
  /** The serialized value, with a placeholder for each large buffer. */
  readonly header: Bytes;
  /** The large buffers, as they are in memory. */
  readonly buffers: readonly Bytes[];
}

export function isPacked(value: unknown): value is PackedResult {
  return typeof value === 'object' && value !== null && 'header' in value && 'buffers' in value;
}

/** Returns the bytes of a result: header and buffers. */
export function packedBytes({ header, buffers }: PackedResult): number {
  return buffers.reduce((sum, buffer) => sum + buffer.byteLength, header.byteLength);
}

/**
 * Identifies a result in the whole cluster: `firstId` of its computation + local id. It is never reused, so a late
 * message about a released result cannot affect another one.
 */
export type ResultId = number;

/** A stored result that a batch needs, and its location. */
export interface GatherInput {
  /** Local id in the run. */
  readonly id: number;
  readonly result: ResultId;
  readonly key: string;
  readonly nbytes: number;
  /** Index of the worker that holds the result. */
  readonly from: number;
  readonly address: string;
}
