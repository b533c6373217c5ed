// A result outside its isolate: bytes that nobody needs to understand in order to keep, spill or send them. The isolate that
// made it packs it, the isolate that needs it unpacks it; whoever stands between them moves frames.

/** Bytes over memory of their own or shared memory. */
export type Frame = Uint8Array<ArrayBuffer> | Uint8Array<SharedArrayBuffer>;

export interface Frames {
  /** The value serialized, with a place for each large buffer. */
  readonly header: Frame;
  /** The large buffers, as they are in memory. */
  readonly buffers: readonly Frame[];
}

/** Bytes of a result: header and buffers. */
export function framesBytes(frames: Frames): number {
  return frames.buffers.reduce((sum, buffer) => sum + buffer.byteLength, frames.header.byteLength);
}

/**
 * Names a result in the whole cluster: `firstId` of its computation + local id. Never used twice, so what arrives late
 * for a result that is gone meets nothing else.
 */
export type ResultId = number;
