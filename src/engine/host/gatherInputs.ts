// Gathers the inputs of a batch that its isolate lacks, from the worker's store or from other workers.
import type { Transfer, WorkInterval } from '../../protocol/clusterObserver.js';
import {
  type GatherInput,
  type PackedResult,
  packedBytes,
  type ResultId,
} from '../../protocol/packedResult.js';
import { dependenciesOf } from '../../protocol/program.js';
import type { MissingInput, WorkerRun } from '../../protocol/workerMessages.js';
import type { GatherOutcome } from './batchGate.js';
import type { Gathered, HostEvents, ThreadHostOptions } from './hostTypes.js';

/** The data of a run that relate inputs to the tasks that need them. */
interface GatheringRun extends Pick<WorkerRun, 'firstId' | 'kinds'> {
  readonly program: Pick<WorkerRun['program'], 'dependencyOffsets' | 'dependencies'>;
}

/**
 * Returns the found and the missing inputs. The work of the store counts for the kind of the first task. Transfers from
 * other workers are reported to `events`.
 */
export async function gatherInputs(
  { store, fetch, digests, index }: Pick<ThreadHostOptions, 'store' | 'fetch' | 'digests' | 'index'>,
  events: Pick<HostEvents, 'interval'>,
  run: GatheringRun,
  ids: Int32Array,
  gather: readonly GatherInput[],
): Promise<GatherOutcome> {
  const { kinds, kindOf } = run.kinds;
  const cause = kinds[kindOf[ids[0] ?? 0]!];
  const results = new Map<number, PackedResult>();
  const remote: GatherInput[] = [];
  for (const input of gather) {
    const own = await store.read(input.result, cause);
    if (own === undefined) {
      remote.push(input);
      continue;
    }
    results.set(input.id, own);
    digests.memoryRead(packedBytes(own), cause);
  }
  const missing: MissingInput[] = [];
  if (remote.length > 0) {
    const answer = await fetch(remote, 'gather-dep');
    for (const input of answer.missing) missing.push(input);
    for (const one of answer.gathered)
      events.interval(transferInterval(index, one, firstDependent(run, ids, one.inputs)));
    for (const { id, result } of remote) {
      const one = answer.results.get(result);
      if (one !== undefined) results.set(id, one);
    }
  }
  return { results, missing };
}

/** Copies results of other workers into the store. Returns the missing results. */
export async function takeResults(
  { store, fetch, index }: Pick<ThreadHostOptions, 'store' | 'fetch' | 'index'>,
  events: Pick<HostEvents, 'interval'>,
  wanted: readonly GatherInput[],
  what: Transfer['what'],
): Promise<ResultId[]> {
  const { results, missing, gathered } = await fetch(wanted, what);
  if (what === 'gather-dep') for (const one of gathered) events.interval(transferInterval(index, one, -1));
  for (const [result, one] of results) store.put(result, one);
  return missing.map(({ result }) => result);
}

/** Returns the interval in which a worker gathered results from one peer. */
function transferInterval(worker: number, { start, stop, nbytes }: Gathered, task: number): WorkInterval {
  return { worker, thread: 0, action: 'transfer', start, stop, task, nbytes };
}

/**
 * Returns the first task of a batch that needs one of the inputs, or -1. As in Dask, a transfer for several tasks is
 * assigned to one of them.
 */
function firstDependent(
  { firstId, program }: GatheringRun,
  ids: Int32Array,
  inputs: readonly GatherInput[],
): number {
  const needed = new Set(inputs.map(({ id }) => id));
  const first = ids.find((id) => dependenciesOf(program, id).some((input) => needed.has(input)));
  return first === undefined ? -1 : firstId + first;
}
