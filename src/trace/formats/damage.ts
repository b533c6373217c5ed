// Bytes that are not what they should be, while a part of a file is read. Whoever reads the file catches it, and goes on
// behind the part or says which file it was.
import { LongpoleError } from '../../base/errors.js';

export class DamagedBytes extends Error {}

/** `what` is a clause without a full stop. */
export function damaged(what: string): never {
  throw new DamagedBytes(what);
}

/** A trace of which nothing can be made. `what` is a clause without a full stop. */
export function unusableTrace(what: string): never {
  throw new LongpoleError('ERR_LONGPOLE_TRACE_FORMAT', `The trace cannot be read: ${what}.`);
}
