import { LongpoleError, sentenceOf } from '../../base/errors.js';

/** Returns the error for a result that cannot be copied, with the given reason. */
export function notCloneable(reason: unknown): LongpoleError {
  const why = sentenceOf(reason);
  return new LongpoleError(
    'ERR_LONGPOLE_NOT_CLONEABLE',
    `The result cannot leave its isolate: ${why} Return plain data, and create other objects from it in the next task.`,
    { cause: reason },
  );
}
