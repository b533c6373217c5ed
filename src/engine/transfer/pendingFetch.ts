// A request for results that was sent to a peer: the arrived and the missing results.
import { type Frames, framesBytes, type ResultId } from '../../protocol/frames.js';
import { emptyFrame } from '../worker/shareBuffers.js';
import type { Payload } from './messageReader.js';
import { malformed, type ResultHead } from './transferMessages.js';

export interface Fetched {
  readonly frames: ReadonlyMap<ResultId, Frames>;
  /** Results that the peer does not have. */
  readonly missing: readonly ResultId[];
  /** Bytes of the results. */
  readonly nbytes: number;
}

export class PendingFetch {
  readonly #awaited: Set<ResultId>;
  readonly #frames = new Map<ResultId, Frames>();
  readonly #settle: (result: Fetched | Error) => void;
  #nbytes = 0;

  /** `settle` is called once, with all results or an error. */
  constructor(ids: Iterable<ResultId>, settle: (result: Fetched | Error) => void) {
    this.#awaited = new Set(ids);
    this.#settle = settle;
  }

  /** Makes room for a result. Throws ERR_LONGPOLE_PEER if it was not requested. */
  expect({ id, frames }: ResultHead): Payload {
    if (!this.#awaited.delete(id)) throw malformed(`result ${id} was not requested`);
    const targets = frames.map(emptyFrame);
    const done = (): void => {
      const [header, ...buffers] = targets;
      // decodeResult refuses a result without frames.
      if (header === undefined) throw malformed('a result has no frames');
      const result = { header, buffers };
      this.#frames.set(id, result);
      this.#nbytes += framesBytes(result);
    };
    return { targets, done };
  }

  /** Ends the request. Throws ERR_LONGPOLE_PEER if a result is still open. */
  end(missing: readonly ResultId[]): void {
    for (const id of missing) {
      if (!this.#awaited.delete(id))
        throw malformed(`result ${id} is reported as missing, and was sent before or not requested`);
    }
    if (this.#awaited.size > 0) throw malformed(`${this.#awaited.size} results are neither sent nor missing`);
    this.#settle({ frames: this.#frames, missing, nbytes: this.#nbytes });
  }

  fail(error: Error): void {
    this.#settle(error);
  }
}

/** Returns a payload that drops the bytes of a result that is not needed any more. */
export function dropped({ frames }: ResultHead): Payload {
  return { targets: frames, done: () => undefined };
}
