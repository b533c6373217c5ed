// Drops stored results that a worker reports and no task needs.
import type { CompletionColumns } from '../../protocol/completionLog.js';
import { KIND_STORED } from '../../protocol/resultKinds.js';
import type { WorkerHost } from '../host/hostTypes.js';
import { MEMORY, PROCESSING } from '../scheduler/taskStates.js';
import type { ClusterEngine } from './clusterEngine.js';
import type { ComputationState } from './computationState.js';
import type { EngineWorker } from './engineWorker.js';

/** Drops the stored results of a computation that was forgotten, because no later message would drop them. */
export function dropForgotten(
  engine: ClusterEngine,
  host: WorkerHost,
  run: number,
  { ids, kinds, count }: CompletionColumns,
): void {
  const firstId = engine.firstIdOf(run);
  if (firstId === undefined) return;
  for (let index = 0; index < count; index++)
    if (kinds[index] === KIND_STORED) host.drop([firstId + ids[index]!]);
}

/** Drops a stored result of a run that does not count, unless the task runs on the worker again and will replace it. */
export function dropUnwanted(
  engine: ClusterEngine,
  { host, info: { index } }: EngineWorker,
  computation: ComputationState,
  id: number,
): void {
  const result = computation.resultId(id);
  const { state, location } = engine.scheduler.state;
  const global = computation.segment.base + id;
  const isHere = location[global] === index && (state[global] === PROCESSING || state[global] === MEMORY);
  if (isHere) engine.stored.add(result, index);
  else host.drop([result]);
}
