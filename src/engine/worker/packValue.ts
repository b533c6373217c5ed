// Packs a value of the user for a question or its answer: see protocol/questions.ts. The value keeps what a result
// keeps.
import type { Frames } from '../../protocol/frames.js';
import { notCloneable } from './isolateRun.js';
import { ownResult } from './ownResult.js';
import { packFrames } from './packFrames.js';

/**
 * Returns the frames of a value; `unpackFrames` reverses it.
 *
 * @throws LongpoleError ERR_LONGPOLE_NOT_CLONEABLE if the value cannot be copied
 */
export function packValue(value: unknown): Frames {
  try {
    return packFrames(ownResult(value));
  } catch (error) {
    throw notCloneable(error);
  }
}
