// Connects the option `signal` of a submission with its tasks.
import type { ClusterEngine } from '../../engine/cluster/clusterEngine.js';
import type { ComputationState, ResultHandle } from '../../engine/cluster/computationState.js';
import { abortedError } from '../../engine/taskFailure.js';
import type { AbortSignalLike } from '../../graph/computeOptions.js';

/** Cancels the results when the signal aborts. Removes its listener when all results are settled. */
export function cancelOnAbort(
  engine: ClusterEngine,
  signal: AbortSignalLike | undefined,
  computation: ComputationState,
  handles: readonly ResultHandle[],
): void {
  if (signal === undefined) return;
  const onAbort = (): void => {
    const { size, unfinished } = computation.segment;
    engine.results.cancel(handles, abortedError(signal.reason, size - unfinished, size));
  };
  if (signal.aborted) {
    onAbort();
    return;
  }
  signal.addEventListener('abort', onAbort);
  // A result that fails or is released settles `computation.done()`, but other tasks may still run. So wait for all.
  void Promise.all(handles.map((handle) => handle.settled())).then(() =>
    signal.removeEventListener('abort', onAbort),
  );
}
