// Brings results to the client. Inline results are already in this process; stored ones are requested from their
// workers. A result that its worker lacks is computed again and requested again.

import { getOrMake, sumOf } from '../../base/lookUps.js';
import type { GatherInput, PackedResult, ResultId } from '../../protocol/packedResult.js';
import { MEMORY } from '../scheduler/taskStates.js';
import { unreachableText } from '../transfer/failedFetches.js';
import { packValue } from '../worker/packResult.js';
import type { ClusterEngine } from './clusterEngine.js';
import type { ResultHandle } from './computationState.js';
import { GatherRoom } from './gatherRoom.js';
import type { TaskPlace } from './lineage.js';
import { unreachedError } from './unreachable.js';

/** Waits until the results are available. Rejects with the error of the first result that will not be. */
export async function finished(handles: readonly ResultHandle[]): Promise<void> {
  for (const handle of handles) {
    // Another caller may retry a failed task before this call continues.
    while (!handle.isSettled) await handle.settled();
    if (handle.status !== 'finished') throw handle.error;
  }
}

/**
 * Returns the values of results, or with `packed` PackedResults. `settled` waits until they are available, also again after a loss.
 *
 * @throws (rejects) what the tasks threw, or LongpoleError ERR_LONGPOLE_MEMORY_LIMIT if the results have no room here
 */
export async function bringResults(
  engine: ClusterEngine,
  places: readonly TaskPlace[],
  settled: () => Promise<void>,
  packed = false,
): Promise<unknown[]> {
  const values: unknown[] = new Array(places.length);
  let room: GatherRoom | undefined;
  let left = places.map((_place, index) => index);
  for (await settled(); ; await settled()) {
    const stored = new Map<number, { inputs: GatherInput[]; indices: number[] }>();
    const again: number[] = [];
    for (const index of left) {
      const { computation, local } = places[index]!;
      const { base } = computation.segment;
      if (engine.scheduler.state.stored[base + local] === 0) {
        const value = computation.results[local];
        values[index] = packed ? packValue(value) : value;
        continue;
      }
      const input = engine.gatherInput(computation, local);
      const group = getOrMake(stored, input.from, () => ({ inputs: [], indices: [] }));
      group.inputs.push(input);
      group.indices.push(index);
    }
    if (stored.size === 0) return values;
    const gathered = room ?? new GatherRoom();
    room = gathered;
    const wanted = [...stored.values()].flatMap(({ inputs }) => inputs);
    gathered.checkMemory(wanted, bytesHere(engine));
    const brought = await Promise.allSettled(
      Array.from(stored, async ([worker, { inputs, indices }]) => {
        const start = engine.clock();
        const results = await ask(engine, worker, inputs, (why) => {
          for (const [at, index] of indices.entries()) {
            const { computation, local } = places[index]!;
            const { state, location } = engine.scheduler.state;
            const id = computation.segment.base + local;
            // Another fetch has failed at the same time, so the result is computed again already.
            if (state[id] !== MEMORY || location[id] !== worker) continue;
            const error = unreachedError(engine, places[index]!, worker, 'The program', why);
            if (error !== undefined) throw error;
            // Now, because another fetch may fail before this call continues.
            engine.resultMissing(worker, inputs[at]!.result);
          }
        });
        for (const [at, index] of indices.entries()) {
          const found = results.get(inputs[at]!.result);
          if (found !== undefined) values[index] = packed ? found : gathered.unpack(inputs[at]!.key, found);
          else {
            engine.resultMissing(worker, inputs[at]!.result);
            again.push(index);
          }
        }
        reportFetched(engine, worker, inputs, start);
      }),
    );
    const failed = brought.find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
    if (again.length === 0) return values;
    left = again;
  }
}

/** Bytes of results that already lie in this process, because workers are threads of it. */
function bytesHere(engine: ClusterEngine): number {
  if (!engine.options.threads) return 0;
  return sumOf(engine.workers.values(), ({ memorySample }) => memorySample?.managed ?? 0);
}

async function ask(
  engine: ClusterEngine,
  worker: number,
  inputs: readonly GatherInput[],
  unreached: (why: string) => void,
): Promise<ReadonlyMap<ResultId, PackedResult>> {
  const found = engine.workers.get(worker);
  if (found === undefined) return new Map();
  const given = found.host.give(inputs);
  try {
    return await engine.waits.during('fetch of results', `${inputs.length} from ${found.info.name}`, given);
  } catch (error) {
    const why = unreachableText(error);
    if (why === undefined) throw error;
    unreached(why);
    return new Map();
  }
}

/** Reports a transfer of results. Its end includes unpacking, because the client needs values. */
function reportFetched(
  engine: ClusterEngine,
  worker: number,
  inputs: readonly GatherInput[],
  start: number,
): void {
  const nbytes = inputs.reduce((sum, input) => sum + input.nbytes, 0);
  const keys = inputs.map(({ key }) => key);
  engine.notify((observer) =>
    observer.transfer?.({
      worker,
      peer: -1,
      direction: 'outgoing',
      what: 'gather',
      keys,
      nbytes,
      compressed: nbytes,
      start,
      stop: engine.clock(),
    }),
  );
}
