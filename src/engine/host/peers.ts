// Access of a worker to the stores of other workers.
import type { Transfer } from '../../protocol/clusterObserver.js';
import type { GatherInput, PackedResult, ResultId } from '../../protocol/packedResult.js';

export interface PeerAnswer {
  readonly results: ReadonlyMap<ResultId, PackedResult>;
  /** Results that the peers lack, or whose peer could not be reached. */
  readonly missing: readonly GatherInput[];
  readonly gathered: readonly Gathered[];
}

/** The inputs that one peer sent. Times are seconds since the epoch on the scheduler's clock. */
export interface Gathered {
  readonly inputs: readonly GatherInput[];
  readonly nbytes: number;
  readonly start: number;
  readonly stop: number;
}

/** Fetches results. Never rejects: results of an unreachable peer are missing. */
export interface Peers {
  fetch(inputs: readonly GatherInput[], what: Transfer['what']): Promise<PeerAnswer>;
}
