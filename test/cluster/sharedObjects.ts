// Helpers of the tests of shared objects.
import { type LocalCluster, LongpoleError, TaskError } from 'longpole';
import { until } from './support.js';

/** Waits until a number of calls of one kind wait, e.g. of `Lock.acquire`. */
export function waiting(cluster: LocalCluster, what: string, count = 1): Promise<void> {
  return until(
    `${count} calls of ${what} wait`,
    () =>
      [...cluster.engine.coordination.calls].filter((call) => `${call.what}.${call.method}` === what)
        .length === count,
  );
}

/** Waits until no shared object has state. */
export function unused({ engine }: LocalCluster): Promise<void> {
  return until('no shared object has state', () => engine.coordination.size === 0);
}

export function codeOf(error: unknown): unknown {
  if (error instanceof TaskError) return codeOf(error.cause);
  return error instanceof LongpoleError ? error.code : error;
}
