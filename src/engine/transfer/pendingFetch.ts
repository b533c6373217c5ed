// A request for results that was sent to a peer: the arrived and the missing results.
import { type PackedResult, packedBytes, type ResultId } from '../../protocol/packedResult.js';
import { emptyBuffer } from '../worker/shareBuffers.js';
import type { Payload } from './messageReader.js';
import { malformed, type ResultHead } from './transferMessages.js';

export interface Fetched {
  readonly results: ReadonlyMap<ResultId, PackedResult>;
  /** Results that the peer does not have. */
  readonly missing: readonly ResultId[];
  /** Bytes of the results. */
  readonly nbytes: number;
}

export class PendingFetch {
  readonly #awaited: Set<ResultId>;
  readonly #results = new Map<ResultId, PackedResult>();
  readonly #settle: (result: Fetched | Error) => void;
  #nbytes = 0;

  /** `settle` is called once, with all results or an error. */
  constructor(ids: Iterable<ResultId>, settle: (result: Fetched | Error) => void) {
    this.#awaited = new Set(ids);
    this.#settle = settle;
  }

  /** Makes room for a result. Throws ERR_LONGPOLE_PEER if it was not requested. */
  expect({ id, lengths }: ResultHead): Payload {
    if (!this.#awaited.delete(id)) throw malformed(`result ${id} was not requested`);
    const targets = lengths.map(emptyBuffer);
    const done = (): void => {
      const [header, ...buffers] = targets;
      // decodeResult refuses a result without buffers.
      if (header === undefined) throw malformed('a result has no buffers');
      const result = { header, buffers };
      this.#results.set(id, result);
      this.#nbytes += packedBytes(result);
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
    this.#settle({ results: this.#results, missing, nbytes: this.#nbytes });
  }

  fail(error: Error): void {
    this.#settle(error);
  }
}
