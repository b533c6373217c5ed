// Runs failed tasks again for `Client.retry`. The handles of their results become pending again, so every future of
// these results gets the new outcome.
import { LongpoleError } from '../../base/errors.js';
import { planRetry } from '../scheduler/retries.js';
import type { ClusterEngine } from './clusterEngine.js';
import type { ResultHandle } from './computationState.js';
import { checkLineage } from './lineage.js';

/**
 * Runs the tasks of failed results again, with the failed tasks that they depend on and that depend on them. Results
 * that have not failed stay as they are.
 *
 * @throws LongpoleError ERR_LONGPOLE_FUTURE for a result that was cancelled, released or of another cluster,
 *   ERR_LONGPOLE_DATA_LOST if an input cannot be computed again. No task runs again then
 */
export function retryResults(engine: ClusterEngine, handles: readonly ResultHandle[]): void {
  // Reports released inputs to the scheduler first, because the retry has to compute them again.
  engine.results.flush();
  for (const handle of handles) {
    if (handle.status === 'error') checkLineage(engine, handle);
    else if (handle.status === 'cancelled') throw handle.error;
    else engine.results.checkOwner(handle);
  }
  const failed = handles.filter(({ status }) => status === 'error');
  if (failed.length === 0) return;
  const { state } = engine.scheduler;
  const { ids, gone } = planRetry(
    state,
    failed.map(({ computation, local }) => computation.segment.base + local),
    (id) => {
      const found = engine.locate(id);
      return found?.computation.handles.get(found.local)?.status === 'error';
    },
  );
  if (gone.length > 0) throw goneError(engine, failed[0]!, gone[0]!);
  const found = Array.from(ids, (id) => engine.locate(id));
  engine.event(
    'tasks-retried',
    `Tasks of ${failed.length} failed results run again, e.g. '${failed[0]!.key}'.`,
  );
  for (const task of found) task?.computation.retry(task.local);
  engine.handleEvent({ type: 'tasks-retried', ids });
}

function goneError(engine: ClusterEngine, { key }: ResultHandle, gone: number): LongpoleError {
  const data = engine.locate(gone);
  const name = data?.computation.info.keys[data.local] ?? '';
  if (name === key)
    return new LongpoleError(
      'ERR_LONGPOLE_DATA_LOST',
      `The data '${key}' was scattered to a worker that has died, and cannot be computed again. Scatter it again.`,
    );
  return new LongpoleError(
    'ERR_LONGPOLE_DATA_LOST',
    `The task '${key}' cannot run again, because it needs the scattered data '${name}', which no longer exists. Scatter the data again, and submit the task again.`,
  );
}
