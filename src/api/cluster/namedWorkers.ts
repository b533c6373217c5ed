// Finds workers by name or address.
import { invalidArgument } from '../../base/errors.js';
import { type EngineWorker, isCalled } from '../../engine/cluster/engineWorker.js';
import type { Cluster } from './cluster.js';

/**
 * Returns the workers with these names or addresses, or all for undefined. Workers that are leaving do not count.
 *
 * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT for an unknown name
 */
export function namedWorkers(
  { engine, workers: known }: Cluster,
  wanted: string | readonly string[] | undefined,
): readonly EngineWorker[] {
  const workers = [...engine.workers.values()].filter(({ isLeaving }) => !isLeaving);
  if (wanted === undefined) return workers;
  const names = typeof wanted === 'string' ? [wanted] : wanted;
  return names.map((name) => {
    const found = workers.find((worker) => isCalled(worker, name));
    if (found !== undefined) return found;
    throw invalidArgument(`workers: there is no worker '${name}'. The workers are: ${known.join(', ')}.`);
  });
}
