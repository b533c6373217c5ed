import { type LongpoleError, notCopyable } from '../../base/errors.js';

/** Returns the error for a result that cannot be copied, with the given reason. */
export function notCloneable(reason: unknown): LongpoleError {
  const instead = 'Return plain data, and create other objects from it in the next task.';
  return notCopyable('The result cannot leave its isolate', reason, instead);
}
