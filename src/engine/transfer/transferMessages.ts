// Messages between peers, as bytes. Each message has a head (type, version, length of the body) and a body. The body
// of a result is followed by the bytes of its buffers; the body has their lengths. All numbers are little endian.
// Received bytes are checked before memory is allocated for them.
import { LongpoleError } from '../../base/errors.js';
import type { ResultId } from '../../protocol/packedResult.js';

export const VERSION = 2;
/** Type u8, version u8, two bytes of zero, length of the body u32. */
export const HEAD_BYTES = 8;
/** Ids in one request; the client splits longer ones. */
export const MAX_IDS = 32_768;
/** Bytes of a body: a request, or the lengths of a million buffers. */
export const MAX_BODY_BYTES = 8 * 2 ** 20;

/** Client → server, first message: worker i32 (-1: no worker), token in UTF-8. */
export const HELLO = 1;
/** Client → server: number of the request u32, ids f64. */
export const REQUEST = 2;
/** Server → client: number u32, id f64, buffers u32; per buffer: bytes f64. */
export const RESULT = 4;
/** Server → client: end of a request. Number u32, ids f64 of the results that are not here. */
export const DONE = 5;
/** Client → server: from now on the connection belongs to the messages of the worker process. No body. */
export const MESSAGES = 6;

const NUMBER_BYTES = 4;
const ID_BYTES = 8;
const RESULT_BYTES = 16;
const BUFFER_BYTES = 8;

export interface Hello {
  readonly worker: number;
  readonly token: string;
}

/** A list of results: those of a request, or the missing ones at its end. */
export interface IdList {
  readonly request: number;
  readonly ids: readonly ResultId[];
}

export interface ResultHead {
  readonly request: number;
  readonly id: ResultId;
  /** Bytes of each buffer that follows. */
  readonly lengths: readonly number[];
}

export function encodeHello({ worker, token }: Hello): Uint8Array<ArrayBuffer> {
  const text = new TextEncoder().encode(token);
  const { bytes, view } = message(HELLO, NUMBER_BYTES + text.byteLength);
  view.setInt32(HEAD_BYTES, worker, true);
  bytes.set(text, HEAD_BYTES + NUMBER_BYTES);
  return bytes;
}

export function encodeMessages(): Uint8Array<ArrayBuffer> {
  return message(MESSAGES, 0).bytes;
}

export function decodeHello(body: Uint8Array): Hello {
  const view = viewOf(body);
  if (body.byteLength < NUMBER_BYTES) throw malformed('a greeting is too short');
  return { worker: view.getInt32(0, true), token: new TextDecoder().decode(body.subarray(NUMBER_BYTES)) };
}

export function encodeIds(
  type: typeof REQUEST | typeof DONE,
  { request, ids }: IdList,
): Uint8Array<ArrayBuffer> {
  const { bytes, view } = message(type, NUMBER_BYTES + ids.length * ID_BYTES);
  view.setUint32(HEAD_BYTES, request, true);
  ids.forEach((id, index) => {
    view.setFloat64(HEAD_BYTES + NUMBER_BYTES + index * ID_BYTES, id, true);
  });
  return bytes;
}

export function decodeIds(body: Uint8Array): IdList {
  const view = viewOf(body);
  const count = (body.byteLength - NUMBER_BYTES) / ID_BYTES;
  if (!Number.isInteger(count) || count < 0 || count > MAX_IDS)
    throw malformed('a list of results is damaged');
  const ids = Array.from({ length: count }, (_, i) => view.getFloat64(NUMBER_BYTES + i * ID_BYTES, true));
  return { request: view.getUint32(0, true), ids };
}

/** Encodes the head of a result; the bytes of its buffers have to follow. */
export function encodeResult({ request, id, lengths }: ResultHead): Uint8Array<ArrayBuffer> {
  const { bytes, view } = message(RESULT, RESULT_BYTES + lengths.length * BUFFER_BYTES);
  view.setUint32(HEAD_BYTES, request, true);
  view.setFloat64(HEAD_BYTES + 4, id, true);
  view.setUint32(HEAD_BYTES + 12, lengths.length, true);
  lengths.forEach((nbytes, index) => {
    view.setFloat64(HEAD_BYTES + RESULT_BYTES + index * BUFFER_BYTES, nbytes, true);
  });
  return bytes;
}

/** Decodes the head of a result. Refuses a result with more than `maxBytes`. */
export function decodeResult(body: Uint8Array, maxBytes: number): ResultHead {
  const view = viewOf(body);
  if (body.byteLength < RESULT_BYTES) throw malformed('a result is too short');
  const count = view.getUint32(12, true);
  if (count === 0) throw malformed('a result has no buffers');
  if (body.byteLength !== RESULT_BYTES + count * BUFFER_BYTES)
    throw malformed('a result differs from its stated length');
  let total = 0;
  const lengths = Array.from({ length: count }, (_, index) => {
    const nbytes = view.getFloat64(RESULT_BYTES + index * BUFFER_BYTES, true);
    if (!Number.isSafeInteger(nbytes) || nbytes < 0) throw malformed('a buffer has an invalid length');
    total += nbytes;
    return nbytes;
  });
  if (!(total <= maxBytes)) throw malformed(`a result has a stated length of ${total} bytes`);
  return { request: view.getUint32(0, true), id: view.getFloat64(4, true), lengths };
}

export function malformed(what: string): LongpoleError {
  return new LongpoleError(
    'ERR_LONGPOLE_PEER',
    `A peer sent an invalid message: ${what}. Run one version of Longpole on all workers.`,
  );
}

function message(type: number, length: number): { bytes: Uint8Array<ArrayBuffer>; view: DataView } {
  const bytes = new Uint8Array(HEAD_BYTES + length);
  const view = viewOf(bytes);
  view.setUint8(0, type);
  view.setUint8(1, VERSION);
  view.setUint32(4, length, true);
  return { bytes, view };
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
