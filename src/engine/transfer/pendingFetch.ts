// One request of results that has been sent to a peer: what has come of it and what has not.
import { type Frame, type Frames, framesBytes, type ResultId } from '../../protocol/frames.js';
import { decompressParts, type PackedPart } from '../store/compression.js';
import { emptyFrame } from '../worker/shareBuffers.js';
import type { Payload } from './messageReader.js';
import { type FrameLengths, malformed, type ResultHead } from './transferMessages.js';

export interface Fetched {
  readonly frames: ReadonlyMap<ResultId, Frames>;
  /** What the peer does not have. */
  readonly missing: readonly ResultId[];
  /** Bytes of the results. */
  readonly nbytes: number;
  /** Bytes that travelled. */
  readonly compressed: number;
}

/** A frame on its way: where its bytes go, and what becomes of them then. */
interface Arrival {
  readonly frame: Frame;
  /** Undefined: the bytes go straight into the frame. */
  readonly parts: readonly PackedPart[] | undefined;
}

export class PendingFetch {
  readonly #awaited: Set<ResultId>;
  readonly #frames = new Map<ResultId, Frames>();
  readonly #settle: (result: Fetched | Error) => void;
  #missing: readonly ResultId[] = [];
  #nbytes = 0;
  #compressed = 0;
  /** Results whose bytes are here, but not decompressed yet. */
  #unpacking = 0;
  #answered = false;

  /** `settle` is called once, with all results or an error. */
  constructor(ids: Iterable<ResultId>, settle: (result: Fetched | Error) => void) {
    this.#awaited = new Set(ids);
    this.#settle = settle;
  }

  /** The peer has said all; something may still have to be decompressed. */
  get answered(): boolean {
    return this.#answered;
  }

  /** Makes room for a result. Throws ERR_LONGPOLE_PEER if it was not asked for. */
  expect({ id, frames }: ResultHead): Payload {
    if (!this.#awaited.delete(id)) throw malformed(`result ${id} was not asked for`);
    const arrivals = frames.map(arrivalOf);
    const targets = arrivals.flatMap(({ frame, parts }) => parts?.map(({ bytes }) => bytes) ?? [frame]);
    this.#unpacking += 1;
    const done = (): void => {
      for (const target of targets) this.#compressed += target.byteLength;
      if (arrivals.every(({ parts }) => parts === undefined)) this.#arrived(id, arrivals);
      else {
        unpack(arrivals).then(
          () => this.#arrived(id, arrivals),
          (error: unknown) => this.fail(error instanceof Error ? error : malformed(String(error))),
        );
      }
    };
    return { targets, done };
  }

  /** The peer has nothing more to say. Throws ERR_LONGPOLE_PEER if something is left open. */
  end(missing: readonly ResultId[]): void {
    for (const id of missing) {
      if (!this.#awaited.delete(id)) throw malformed(`result ${id} is said to be missing, but it is not`);
    }
    if (this.#awaited.size > 0) throw malformed(`${this.#awaited.size} results were left out`);
    this.#missing = missing;
    this.#answered = true;
    this.#finish();
  }

  fail(error: Error): void {
    this.#settle(error);
  }

  #arrived(id: ResultId, arrivals: readonly Arrival[]): void {
    const [header, ...buffers] = arrivals.map(({ frame }) => frame);
    if (header === undefined) {
      this.fail(malformed('a result has no frames'));
      return;
    }
    const frames = { header, buffers };
    this.#frames.set(id, frames);
    this.#nbytes += framesBytes(frames);
    this.#unpacking -= 1;
    this.#finish();
  }

  #finish(): void {
    if (!this.#answered || this.#unpacking > 0) return;
    this.#settle({
      frames: this.#frames,
      missing: this.#missing,
      nbytes: this.#nbytes,
      compressed: this.#compressed,
    });
  }
}

/** The bytes of a result that nobody wants any more. */
export function dropped({ frames }: ResultHead): Payload {
  const targets = frames.map(({ nbytes, parts }) =>
    parts.length === 0 ? nbytes : parts.reduce((sum, { stored }) => sum + stored, 0),
  );
  return { targets, done: () => undefined };
}

function arrivalOf({ nbytes, parts }: FrameLengths): Arrival {
  const frame = emptyFrame(nbytes);
  if (parts.length === 0) return { frame, parts: undefined };
  let at = 0;
  const places = parts.map((part) => {
    const place = frame.subarray(at, at + part.nbytes);
    at += part.nbytes;
    return { bytes: part.stored === part.nbytes ? place : new Uint8Array(part.stored), nbytes: part.nbytes };
  });
  return { frame, parts: places };
}

async function unpack(arrivals: readonly Arrival[]): Promise<void> {
  for (const { frame, parts } of arrivals) if (parts !== undefined) await decompressParts(parts, frame);
}
