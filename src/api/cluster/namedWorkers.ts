// The workers that somebody names.
import { LongpoleError } from '../../base/errors.js';
import { type EngineWorker, isCalled } from '../../engine/cluster/engineWorker.js';
import type { Cluster } from './cluster.js';

/**
 * Those with these names or addresses; undefined: all. One that leaves counts no more.
 *
 * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT if one of them is not there
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
    throw new LongpoleError(
      'ERR_LONGPOLE_INVALID_ARGUMENT',
      `workers: '${name}' is not there. The workers are: ${known.join(', ')}.`,
    );
  });
}
