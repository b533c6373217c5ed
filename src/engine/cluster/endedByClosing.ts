// Calls that are pending when their cluster or client closes. Closing rejects them, often while an error of the program is on
// its way out. Node would end the program with the first rejection that has no handler, and hide that error.
import { TaskError } from '../../base/errors.js';

/** What closing has rejected calls with. */
const byClosing = new WeakSet<object>();

/**
 * Returns the outcome of a public call. If closing rejects the promise, the rejection counts as handled. Everything that waits
 * for the promise gets the error all the same. Must be the promise that the program gets: a promise that follows it, for
 * example that of an async function, needs a handler of its own.
 *
 * @param isClosed asked when the call rejects. Without it, the rejection of an inner call decides
 */
export function untilClosed<R>(call: Promise<R>, isClosed?: () => boolean): Promise<R> {
  // An async function keeps the frames of the caller in the stacks of errors.
  const follow = async (): Promise<R> => {
    try {
      return await call;
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
  // A task that fails by itself while its cluster closes is an error like any other.
  if (isClosed?.() && !(error instanceof TaskError)) byClosing.add(error);
  return byClosing.has(error);
}
