// Packs a value of the user for a question or its answer: see protocol/questions.ts. The value keeps what a result
// keeps.
import type { PackedResult } from '../../protocol/packedResult.js';
import { notCloneable } from './isolateRun.js';
import { ownResult } from './ownResult.js';
import { packResult } from './packResult.js';

/**
 * Packs a value; `unpackResult` reverses it.
 *
 * @throws LongpoleError ERR_LONGPOLE_NOT_CLONEABLE if the value cannot be copied
 */
export function packValue(value: unknown): PackedResult {
  try {
    return packResult(ownResult(value));
  } catch (error) {
    throw notCloneable(error);
  }
}
