// Calls that are pending when their cluster or client closes. Closing rejects them, often while another error of the
// program propagates. Node would end the program with the first unhandled rejection and hide that error.
import { TaskError } from '../../base/errors.js';

/** Errors with which closing has rejected calls. */
const byClosing = new WeakSet<object>();

/**
 * Makes a public call, and returns its outcome. If closing rejects the call, the rejection counts as handled, and every caller
 * that awaits the promise still gets the error. The returned promise must be the one that the program receives: a
 * promise derived from it needs another handler.
 *
 * @param isClosed called when the call rejects. Without it, only errors that an inner call has marked count
 */
export function untilClosed<R>(call: () => Promise<R>, isClosed?: () => boolean): Promise<R> {
  // An async function keeps the caller's stack frames in the stacks of errors.
  const follow = async (): Promise<R> => {
    try {
      return await call();
    } catch (error) {
      if (isByClosing(error, isClosed)) outcome.catch(() => undefined);
      throw error;
    }
  };
  const outcome = follow();
  return outcome;
}

function isByClosing(error: unknown, isClosed: (() => boolean) | undefined): boolean {
  if (typeof error !== 'object' || error === null) return false;
  // A TaskError is an error of the program, also while the cluster closes.
  if (isClosed?.() && !(error instanceof TaskError)) byClosing.add(error);
  return byClosing.has(error);
}
