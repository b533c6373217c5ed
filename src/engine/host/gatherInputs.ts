// Gathers the inputs of a batch that its isolate lacks, from the worker's store or from other workers.
import { isError } from '../../base/isError.js';
import { type Frames, framesBytes } from '../../protocol/frames.js';
import type { TaskKind } from '../../protocol/taskKinds.js';
import type { GatherOutcome } from './batchGate.js';
import type { GatherInput, HostEvents } from './hostTypes.js';
import type { ThreadHostOptions } from './threadHostOptions.js';

/** Returns the found and the missing inputs. The work of the store counts for tasks of the kind `cause`. Results that cannot be read back from disk are reported to `events`. */
export async function gatherInputs(
  { store, peers, digests }: Pick<ThreadHostOptions, 'store' | 'peers' | 'digests'>,
  events: Pick<HostEvents, 'event'>,
  gather: readonly GatherInput[],
  cause?: TaskKind,
): Promise<GatherOutcome> {
  const frames = new Map<number, Frames>();
  const remote: GatherInput[] = [];
  for (const input of gather) {
    if (!store.has(input.result)) {
      remote.push(input);
      continue;
    }
    try {
      const own = await store.get(input.result, cause);
      if (own === undefined) remote.push(input);
      else {
        frames.set(input.id, own);
        digests.memoryRead(1, framesBytes(own), cause);
      }
    } catch (error) {
      events.event('store', isError(error) ? error.message : String(error));
      store.delete(input.result);
      remote.push(input);
    }
  }
  const missing: GatherInput[] = [];
  if (remote.length > 0) {
    const answer = await peers.fetch(remote, 'gather-dep');
    for (const input of answer.missing) missing.push(input);
    for (const { id, result } of remote) {
      const one = answer.frames.get(result);
      if (one !== undefined) frames.set(id, one);
    }
  }
  return { frames, missing };
}
