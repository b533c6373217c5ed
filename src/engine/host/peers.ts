// The other workers' stores, as a worker reaches them.
import type { Transfer } from '../../protocol/clusterObserver.js';
import type { Frames, ResultId } from '../../protocol/frames.js';
import type { GatherInput } from './hostTypes.js';

export interface PeerAnswer {
  readonly frames: ReadonlyMap<ResultId, Frames>;
  /** What the peers did not have, or could not be asked for. */
  readonly missing: readonly GatherInput[];
}

/** Never rejects: whoever cannot be reached has nothing. */
export interface Peers {
  fetch(inputs: readonly GatherInput[], what: Transfer['what']): Promise<PeerAnswer>;
}
