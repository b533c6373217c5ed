// Moves the stored results of a leaving worker to other workers. Scattered data could not be computed again.

import type { GatherInput } from '../../protocol/workerMessages.js';
import type { ClusterEngine } from './clusterEngine.js';
import type { ComputationState } from './computationState.js';
import type { EngineWorker } from './engineWorker.js';

/** A stored result and its location. */
interface Held {
  readonly computation: ComputationState;
  readonly local: number;
  readonly input: GatherInput;
}

/** Moves the stored results of a leaving worker to others. Results for which no worker has room are lost. */
export async function moveResults(engine: ClusterEngine, leaving: EngineWorker): Promise<void> {
  const unable = new Set<EngineWorker>();
  // Repeats, because the worker may have received more results and an heir may have died.
  for (;;) {
    const held = heldBy(engine, leaving);
    const heir = held.length === 0 ? undefined : heirOf(engine, unable);
    if (heir === undefined) return;
    if (heir.facts === undefined) await heir.started.catch(() => undefined);
    else if (!(await handOver(engine, held, heir))) unable.add(heir);
  }
}

function heldBy(engine: ClusterEngine, { info }: EngineWorker): Held[] {
  const { state } = engine.scheduler;
  const held: Held[] = [];
  for (const computation of engine.computations) {
    const { base, size } = computation.segment;
    for (let local = 0; local < size; local++)
      if (state.stored[base + local] !== 0 && state.location[base + local] === info.index)
        held.push({ computation, local, input: engine.gatherInput(computation, local) });
  }
  return held;
}

/** Returns a worker that is up, or else one that is starting. */
function heirOf(engine: ClusterEngine, unable: ReadonlySet<EngineWorker>): EngineWorker | undefined {
  const heirs = [...engine.workers.values()].filter(
    (worker) => !worker.isLeaving && !worker.isPaused && !unable.has(worker),
  );
  return heirs.find(({ facts }) => facts !== undefined) ?? heirs[0];
}

/** Returns whether the heir has taken all results. */
async function handOver(engine: ClusterEngine, held: readonly Held[], heir: EngineWorker): Promise<boolean> {
  const { index } = heir.info;
  const inputs = held.map(({ input }) => input);
  const missing = new Set(await heir.host.take(inputs, 'gather-dep'));
  // The heir has died or is leaving, too.
  if (engine.workers.get(index) !== heir || heir.isLeaving) return false;
  const taken = held.filter(({ input }) => !missing.has(input.result));
  const idle = taken.filter((one) => !relocate(engine, one, index)).map(({ input }) => input.result);
  // These results were released or computed elsewhere meanwhile, and no later message would drop the copies.
  const drop = idle.filter((result) => !engine.stored.holders(result).has(index));
  if (drop.length > 0) heir.host.drop(drop);
  return missing.size === 0;
}

/** Makes the heir the location of a result, unless the result has been released or moved. */
function relocate(engine: ClusterEngine, { computation, local, input }: Held, to: number): boolean {
  if (engine.computation(computation.info.number) !== computation) return false;
  const { state } = engine.scheduler;
  const id = computation.segment.base + local;
  if (state.stored[id] === 0 || state.location[id] !== input.from) return false;
  state.location[id] = to;
  engine.stored.copied(input.result, to);
  return true;
}
