// Packs a value of the user for a question or its answer: see protocol/questions.ts. The value keeps what a result
// keeps.

import { LongpoleError, sentenceOf } from '../../base/errors.js';
import type { PackedResult } from '../../protocol/packedResult.js';
import { notCloneable } from './notCloneable.js';
import { ownResult } from './ownResult.js';
import { packResult } from './packResult.js';

/**
 * Packs a value; `unpackResult` reverses it.
 *
 * @param what subject of the error's message, e.g. `Queue.put() of 'a': the value`. Default: a result of a task
 * @throws LongpoleError ERR_LONGPOLE_NOT_CLONEABLE if the value cannot be copied
 */
export function packValue(value: unknown, what?: string): PackedResult {
  try {
    return packResult(ownResult(value));
  } catch (error) {
    if (what === undefined) throw notCloneable(error);
    throw new LongpoleError(
      'ERR_LONGPOLE_NOT_CLONEABLE',
      `${what} cannot be copied: ${sentenceOf(error)} Pass plain data, and create other objects from it where they are used.`,
      { cause: error },
    );
  }
}
