// Implements `Client.scatter`: copies values of the program to the workers as results.

import { serialize } from 'node:v8';
import { LongpoleError, notCopyable } from '../../base/errors.js';
import { integerText } from '../../base/words.js';
import type { ResultHandle } from '../../engine/cluster/computationState.js';
import { type EngineWorker, isCalled } from '../../engine/cluster/engineWorker.js';
import { ownResult } from '../../engine/worker/ownResult.js';
import { packResult } from '../../engine/worker/packResult.js';
import type { Plan } from '../../graph/compile.js';
import { sizeOf } from '../../graph/sizeOf.js';
import { uniqueToken } from '../../graph/uniqueToken.js';
import {
  type GatherInput,
  type PackedResult,
  packedBytes,
  type ResultId,
} from '../../protocol/packedResult.js';
import { RESULT_TYPES, typeOf } from '../../protocol/resultKinds.js';
import type { ScatterOptions } from './clientOptions.js';
import type { Cluster } from './cluster.js';

/** Holder of values that this process keeps. */
const CALLER = -1;

/** Values from which an array was probably meant as one value. */
const MANY_VALUES = 10_000;
/** Clusters whose program was warned of it. A program may need a future of each value. */
const warned = new WeakSet<Cluster>();

/** Maximum number of attempts to copy a value, because workers may die meanwhile. */
const MAX_ATTEMPTS = 5;

export async function scatterValues(
  cluster: Cluster,
  client: string,
  values: readonly unknown[],
  options: ScatterOptions,
): Promise<ResultHandle[]> {
  const { engine, stores } = cluster.parts;
  cluster.namedWorkers(options.workers);
  const size = values.length;
  if (size >= MANY_VALUES) warnOfMany(cluster, size);
  const firstId = engine.reserveIds(size);
  const keys = values.map((value) => `${RESULT_TYPES[typeOf(value)]!}-${uniqueToken()}`);
  const results: unknown[] = new Array(size);
  const nbytes = new Float64Array(size);
  const offers = new Map<ResultId, PackedResult>();
  const inputs: GatherInput[] = [];
  for (const [local, value] of values.entries()) {
    let packed: PackedResult | undefined;
    try {
      const own = ownResult(value);
      const { inlineBytes } = engine.options;
      nbytes[local] = sizeOf(own, inlineBytes);
      if (nbytes[local] <= inlineBytes) results[local] = inlineCopy(own, engine.options.threads);
      else packed = packResult(own);
    } catch (error) {
      throw notCopyable(`Value ${local} cannot be copied to the workers`, error, 'Scatter plain data.');
    }
    if (packed === undefined) continue;
    nbytes[local] = packedBytes(packed);
    const result = firstId + local;
    offers.set(result, packed);
    inputs.push({ id: local, result, key: keys[local]!, nbytes: nbytes[local], from: CALLER, address: '' });
  }
  const endHold = await cluster.holdWorker();
  try {
    const address = inputs.length === 0 ? '' : await stores.offer(offers);
    const offered = inputs.map((input) => ({ ...input, address }));
    const taken = await bring(cluster, offered, options);
    const holders = new Int32Array(size).fill(CALLER);
    for (const { id, result } of inputs) holders[id] = taken.get(result)![0]!;
    const data = { results, holders, nbytes, firstId };
    const computation = engine.add({ plan: dataPlan(keys), functions: [], client, data });
    for (const [result, workers] of taken) for (const index of workers) engine.hasCopies(index, [{ result }]);
    return keys.map((_key, local) => engine.results.of(computation, local));
  } finally {
    endHold();
    if (inputs.length > 0) await stores.withdraw(offers.keys());
  }
}

/**
 * Copies a value, and checks that every worker can receive it. The channel to a process rejects more than
 * `structuredClone`.
 */
function inlineCopy(value: unknown, threads: boolean): unknown {
  const copy = structuredClone(value);
  if (!threads) serialize(copy);
  return copy;
}

/** Copies the values to workers. Returns the indices of the holders that stay, by result. */
async function bring(
  cluster: Cluster,
  inputs: readonly GatherInput[],
  { broadcast = false, workers: names }: ScatterOptions,
): Promise<Map<ResultId, number[]>> {
  const { engine } = cluster;
  const taken = new Map<ResultId, number[]>();
  let left = inputs;
  for (let attempt = 0; attempt < MAX_ATTEMPTS && left.length > 0; attempt++) {
    const workers = await running(present(cluster, names), broadcast);
    const plans = workers.map((worker, at) => ({
      worker,
      inputs: broadcast ? left : left.filter(({ id }) => (id + attempt) % workers.length === at),
    }));
    await Promise.all(
      plans.map(async ({ worker: { host, info }, inputs: wanted }) => {
        if (wanted.length === 0) return;
        const missing = new Set(await host.take(wanted, 'scatter'));
        for (const { result } of wanted)
          if (!missing.has(result)) taken.set(result, [...(taken.get(result) ?? []), info.index]);
      }),
    );
    // A worker may have died, or begun to leave, while other workers still received values.
    for (const [result, holders] of taken) {
      const alive = holders.filter((index) => engine.workers.get(index)?.isLeaving === false);
      if (alive.length > 0) taken.set(result, alive);
      else taken.delete(result);
    }
    left = inputs.filter(({ result }) => !taken.has(result));
  }
  if (left.length === 0) return taken;
  throw new LongpoleError(
    'ERR_LONGPOLE_WORKER_LOST',
    `The data '${left[0]!.key}' could not be scattered: ${MAX_ATTEMPTS} workers in a row died while they received it. ` +
      'If memory is the cause, scatter smaller values, or raise memoryLimit.',
  );
}

/**
 * Returns those workers that run. Results count only on workers that run, because the scheduler does not know the others
 * yet. Waits for the start of all for `broadcast`, or if none runs yet.
 */
async function running(workers: readonly EngineWorker[], broadcast: boolean): Promise<EngineWorker[]> {
  const isUp = ({ facts }: EngineWorker): boolean => facts !== undefined;
  if (broadcast || !workers.some(isUp)) await Promise.allSettled(workers.map(({ started }) => started));
  return workers.filter(isUp);
}

function present(cluster: Cluster, names: string | readonly string[] | undefined): readonly EngineWorker[] {
  if (names === undefined) return cluster.namedWorkers(undefined);
  const list = typeof names === 'string' ? [names] : names;
  const there = [...cluster.engine.workers.values()].filter(
    (worker) => !worker.isLeaving && list.some((name) => isCalled(worker, name)),
  );
  return there.length > 0 ? there : cluster.namedWorkers(names);
}

function warnOfMany(cluster: Cluster, size: number): void {
  if (warned.has(cluster)) return;
  warned.add(cluster);
  const text =
    `scatter() received an array with ${integerText(size)} values, and makes a future of each. ` +
    'To scatter the array as one value, pass it in another array, const [future] = await client.scatter([array]), or pass a typed array.';
  process.emitWarning(text, { type: 'LongpoleWarning', code: 'LONGPOLE_MANY_VALUES' });
}

function dataPlan(keys: readonly string[]): Plan {
  const size = keys.length;
  const none = new Int32Array(0);
  const offsets = new Int32Array(size + 1);
  const ids = new Map(keys.map((key, id) => [key, id]));
  return {
    program: {
      size,
      tokenOffsets: offsets,
      operations: new Uint8Array(0),
      operands: new Float64Array(0),
      dependencyOffsets: offsets,
      dependencies: none,
      dependentCounts: new Int32Array(size),
    },
    keys,
    sourceOf: () => undefined,
    functionOf: new Int32Array(size).fill(-1),
    functions: [],
    constants: [],
    dependencies: { offsets, targets: none },
    dependents: { offsets, targets: none },
    requested: new Uint8Array(size).fill(1),
    ids,
    data: new Map(),
    spans: undefined,
    imports: new Map(),
  };
}
