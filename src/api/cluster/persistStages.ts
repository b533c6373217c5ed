// Persists a graph with annotated tasks as several computations, one per set of options.
import { annotatedStages } from '../../graph/annotatedStages.js';
import type { Delayed } from '../../graph/delayed.js';
import type { SubmitOptions } from './clientOptions.js';
import type { Future } from './future.js';

/**
 * Persists one stage after the other. Later stages find the results of earlier ones by their keys.
 *
 * @returns a future for each Delayed of `list`
 */
export function persistStages(
  list: readonly Delayed<unknown>[],
  options: SubmitOptions,
  persist: (part: readonly Delayed<unknown>[], options: SubmitOptions) => Future<unknown>[],
  stages = annotatedStages(list),
): Future<unknown>[] {
  if (stages.length === 0) return persist(list, options);
  const futures = new Map<string, Future<unknown>>();
  for (const { annotations, delayeds } of stages) {
    for (const future of persist(delayeds, { ...options, ...annotations })) futures.set(future.key, future);
  }
  const wanted = list.map(({ key }) => futures.get(key)!);
  const kept = new Set(wanted);
  for (const future of futures.values()) if (!kept.has(future)) future.release();
  return wanted;
}
