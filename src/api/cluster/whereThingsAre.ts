// Queries of the scheduler's state by key and by worker. Each query walks over all tasks of the cluster.

import { keySplit } from '../../base/keySplit.js';
import type { ClusterEngine } from '../../engine/cluster/clusterEngine.js';
import type { EngineWorker } from '../../engine/cluster/engineWorker.js';
import { isHostDump } from '../../engine/host/hostTypes.js';
import { MEMORY, PROCESSING } from '../../engine/scheduler/taskStates.js';

/** Yields the tasks in a state. `id` is the scheduler's id. */
function* tasksIn(engine: ClusterEngine, state: number) {
  const { state: states } = engine.scheduler.state;
  for (const computation of engine.computations) {
    const { base, size } = computation.segment;
    for (let local = 0; local < size; local++)
      if (states[base + local] === state && !computation.imports.has(local))
        yield { computation, local, key: computation.info.keys[local]!, id: base + local };
  }
}

/** Returns the names of the workers that store each result; none for small results, which the scheduler has. */
export function whoHas(engine: ClusterEngine, keys?: ReadonlySet<string>): Record<string, string[]> {
  const found: [string, string[]][] = [];
  for (const { computation, local, key } of tasksIn(engine, MEMORY)) {
    if (keys !== undefined && !keys.has(key)) continue;
    const holders = [...engine.stored.holders(computation.resultId(local))];
    found.push([key, holders.flatMap((index) => engine.workers.get(index)?.info.name ?? [])]);
  }
  for (const key of keys ?? []) if (!found.some(([known]) => known === key)) found.push([key, []]);
  return Object.fromEntries(found);
}

/** Returns the keys of the results in the store of each worker. */
export function hasWhat(engine: ClusterEngine, workers: readonly EngineWorker[]): Record<string, string[]> {
  const keys = new Map(workers.map(({ info }) => [info.index, { name: info.name, keys: [] as string[] }]));
  for (const { computation, local, key } of tasksIn(engine, MEMORY))
    for (const index of engine.stored.holders(computation.resultId(local))) keys.get(index)?.keys.push(key);
  return Object.fromEntries(Array.from(keys.values(), (worker) => [worker.name, worker.keys]));
}

/** Returns the keys of the tasks that each worker has received and not finished. */
export function processing(
  engine: ClusterEngine,
  workers: readonly EngineWorker[],
): Record<string, string[]> {
  const { location } = engine.scheduler.state;
  const keys = new Map(workers.map(({ info }) => [info.index, { name: info.name, keys: [] as string[] }]));
  for (const { id, key } of tasksIn(engine, PROCESSING)) keys.get(location[id]!)?.keys.push(key);
  return Object.fromEntries(Array.from(keys.values(), (worker) => [worker.name, worker.keys]));
}

/** Returns the bytes of the results in the cluster, by prefix or by key. */
export function nbytesOf(
  engine: ClusterEngine,
  { keys, summary }: { readonly keys: ReadonlySet<string> | undefined; readonly summary: boolean },
): Record<string, number> {
  const { nbytes } = engine.scheduler.state;
  const sums = new Map<string, number>();
  for (const { id, key } of tasksIn(engine, MEMORY)) {
    if (keys !== undefined && !keys.has(key)) continue;
    const name = summary ? keySplit(key) : key;
    sums.set(name, (sums.get(name) ?? 0) + nbytes[id]!);
  }
  return Object.fromEntries(sums);
}

/** Returns the stack frames of running tasks, innermost first, by worker and key. Idle workers are missing. */
export async function callStacks(
  engine: ClusterEngine,
  workers: readonly EngineWorker[],
  keys?: ReadonlySet<string>,
): Promise<Record<string, Record<string, string[]>>> {
  const stacks = await Promise.all(
    workers.map(async (worker): Promise<[string, Record<string, string[]>][]> => {
      const dump = await worker.host.dump();
      const host = isHostDump(dump) ? dump : dump.inside;
      if (typeof host === 'string' || host.task === undefined) return [];
      const key = engine.computation(host.task.run)?.info.keys[host.task.id];
      if (key === undefined || keys?.has(key) === false) return [];
      const { inside } = host.isolate;
      return [[worker.info.name, { [key]: typeof inside === 'string' ? [inside] : [...inside.stack] }]];
    }),
  );
  return Object.fromEntries(stacks.flat());
}
