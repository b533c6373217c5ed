// The tasks that a result was computed from. They are kept as long as a future of the result is held.

import { unusableFuture } from '../../base/errors.js';
import { getOrMake } from '../../base/lookUps.js';
import { dependenciesOf } from '../../protocol/program.js';
import type { ClusterEngine } from './clusterEngine.js';
import type { ComputationState, ResultHandle } from './computationState.js';

export interface TaskPlace {
  readonly computation: ComputationState;
  readonly local: number;
}

/**
 * Checks that the tasks from which a result was computed are still known.
 *
 * @throws LongpoleError ERR_LONGPOLE_FUTURE
 */
export function checkLineage(engine: ClusterEngine, handle: ResultHandle): void {
  const { computation, key, local, status } = handle;
  if (status === 'cancelled') throw handle.error;
  engine.results.checkOwner(handle);
  const isKept = computation.handles.get(local) === handle;
  if (isKept && engine.computation(computation.info.number) === computation) return;
  throw unusableFuture(
    `The task '${key}' cannot run again, because its future was cancelled or belongs to another cluster. Submit the task again.`,
  );
}

/** Returns the task that threw the error of a failed result; undefined if no task did, as for lost data. */
export function failedTask(
  engine: ClusterEngine,
  { computation, local, error }: ResultHandle,
): TaskPlace | undefined {
  const seen = new Map<ComputationState, Set<number>>();
  const stack: TaskPlace[] = [{ computation, local }];
  for (let place = stack.pop(); place !== undefined; place = stack.pop()) {
    getOrMake(seen, place.computation, () => new Set()).add(place.local);
    if (place.computation.reasons.get(place.local) === error) return place;
    for (const input of inputsOf(engine, place))
      if (!seen.get(input.computation)?.has(input.local)) stack.push(input);
  }
  return undefined;
}

/** Returns the tasks whose results a task needs. An import stands for the task of its result. */
export function inputsOf(engine: ClusterEngine, { computation, local }: TaskPlace): TaskPlace[] {
  const { graph } = engine.scheduler.state;
  return Array.from(
    dependenciesOf(computation.program, local),
    (input) =>
      engine.locate(graph.originOf(computation.segment.base + input)) ?? { computation, local: input },
  );
}
