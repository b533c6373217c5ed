// Brings results to the client. Inline results are already in this process; stored ones are requested from their
// workers. A result that its worker lacks is computed again and requested again.

import { getHeapStatistics } from 'node:v8';
import { LongpoleError, releaseStack } from '../../base/errors.js';
import { megabytes } from '../../base/words.js';
import type { GatherInput, PackedResult, ResultId } from '../../protocol/packedResult.js';
import { MEMORY } from '../scheduler/taskStates.js';
import { unreachableText } from '../transfer/failedFetches.js';
import { collectGarbage } from '../worker/collectGarbage.js';
import { packValue, unpackResult } from '../worker/packResult.js';
import type { ClusterEngine } from './clusterEngine.js';
import type { ResultHandle } from './computationState.js';
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
      const group = stored.get(input.from) ?? { inputs: [], indices: [] };
      group.inputs.push(input);
      group.indices.push(index);
      stored.set(input.from, group);
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
  return [...engine.workers.values()].reduce(
    (sum, { memorySample }) => sum + (memorySample?.managed ?? 0),
    0,
  );
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

// Checks that gathered results fit into the client's process. Otherwise V8 would abort on a full heap, or the system
// would kill the process when memory runs out.

/** Share of the system's free memory and of the heap that results may fill. */
const MOST = 0.9;
/** Default size in MiB of V8's young generation, by major version of Node. The heap limit includes it; it keeps no results. */
const YOUNG_MIB = new Map([
  [20, 48],
  [22, 48],
  [24, 192],
  [26, 96],
]);
/** Upper bound for other versions. */
const MOST_YOUNG_MIB = 192;
/** Serialized bytes between two checks of the heap, which cost microseconds. */
const CHECK_BYTES = 1e6;
/** Assumed bytes of heap per serialized byte, before a measurement: strings take 1, small integers 4, doubles 2.7. */
const FIRST_FACTOR = 2;
const MEASURED_BYTES = 16e6;
const ADVICE = 'Gather fewer results at a time, or let tasks on the workers reduce them.';

/** A result that a client requests. */
interface Wanted {
  readonly key: string;
  readonly nbytes: number;
}

export class GatherRoom {
  readonly #used = getHeapStatistics().used_heap_size;
  /** Serialized bytes of the results that were unpacked. */
  #unpacked = 0;
  #seen = 0;
  /** The error of the first result without room. Later results are refused with it, too. */
  #refusal: LongpoleError | undefined;

  /**
   * Checks the system's memory before a gather. `here`: bytes of the results that already lie in this process.
   *
   * @throws LongpoleError ERR_LONGPOLE_MEMORY_LIMIT if the system has no room for them
   */
  checkMemory(wanted: readonly Wanted[], here: number): void {
    const nbytes = wanted.reduce((sum, one) => sum + one.nbytes, 0);
    const free = MOST * process.availableMemory();
    if (nbytes - here <= free) return;
    const largest = wanted.reduce((most, one) => (one.nbytes > most.nbytes ? one : most));
    throw new LongpoleError(
      'ERR_LONGPOLE_MEMORY_LIMIT',
      `${wanted.length} results of ${megabytes(nbytes)} cannot be gathered, because only ${megabytes(free)} of memory are free. ` +
        `The largest is '${largest.key}' with ${megabytes(largest.nbytes)}. ${ADVICE}`,
    );
  }

  /**
   * Returns the value of a result.
   *
   * @throws LongpoleError ERR_LONGPOLE_MEMORY_LIMIT if the heap has no room for it
   */
  unpack(key: string, packed: PackedResult): unknown {
    if (this.#refusal !== undefined) throw this.#refusal;
    const nbytes = packed.header.byteLength;
    if (this.#unpacked + nbytes - this.#seen >= CHECK_BYTES) this.#checkHeap(key, nbytes);
    this.#unpacked += nbytes;
    return unpackResult(packed);
  }

  #checkHeap(key: string, nbytes: number): void {
    this.#seen = this.#unpacked;
    if (this.#hasRoom(nbytes)) return;
    collectGarbage();
    if (this.#hasRoom(nbytes)) return;
    const { used_heap_size: used, heap_size_limit: total } = getHeapStatistics();
    const limit = oldLimit(total);
    this.#refusal = new LongpoleError(
      'ERR_LONGPOLE_MEMORY_LIMIT',
      `The result '${key}' of ${megabytes(nbytes)} does not fit into the heap of this program: ${megabytes(used)} of ${megabytes(limit)} ` +
        `are in use, after ${megabytes(this.#unpacked)} of other results of this call. ${ADVICE} ` +
        'Raise the limit with node --max-old-space-size.',
    );
    // The stack of the error would keep the values alive.
    releaseStack(this.#refusal);
    throw this.#refusal;
  }

  #hasRoom(nbytes: number): boolean {
    const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
    const measured = Math.min(8, Math.max(0.1, (used - this.#used) / this.#unpacked));
    const factor = this.#unpacked >= MEASURED_BYTES ? measured : FIRST_FACTOR;
    return used + factor * Math.max(nbytes, CHECK_BYTES) <= MOST * oldLimit(limit);
  }
}

function oldLimit(limit: number): number {
  const young = YOUNG_MIB.get(Number.parseInt(process.versions.node, 10)) ?? MOST_YOUNG_MIB;
  return Math.max(limit / 4, limit - young * 2 ** 20);
}
