// Connects the option `signal` of a submission with its tasks.
import type { AbortSignalLike } from '../../graph/computeOptions.js';
import type { FutureHandle } from './future.js';

/**
 * Calls `cancel` with the reason when the signal aborts, or at once if it has aborted. Removes its listener when all
 * results are settled.
 */
export function cancelOnAbort(
  signal: AbortSignalLike | undefined,
  handles: readonly FutureHandle[],
  cancel: (reason: unknown) => void,
): void {
  if (signal === undefined) return;
  const onAbort = (): void => cancel(signal.reason);
  if (signal.aborted) {
    onAbort();
    return;
  }
  signal.addEventListener('abort', onAbort);
  // A result that fails or is released settles its computation, but other tasks may still run. So wait for all.
  void Promise.all(handles.map((handle) => handle.settled())).then(() =>
    signal.removeEventListener('abort', onAbort),
  );
}
