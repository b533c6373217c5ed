// Errors for damaged bytes. The reader of a file catches DamagedBytes and either skips the damaged part or reports the
// file.
import { LongpoleError } from '../../base/errors.js';

export class DamagedBytes extends Error {}

/** Throws DamagedBytes. `what` is a clause without a full stop. */
export function damaged(what: string): never {
  throw new DamagedBytes(what);
}

/** Throws ERR_LONGPOLE_TRACE_FORMAT for a trace that cannot be opened. `what` is a clause without a full stop. */
export function unusableTrace(what: string, advice = 'Copy the trace again, or record it again.'): never {
  throw new LongpoleError('ERR_LONGPOLE_TRACE_FORMAT', `The trace cannot be read: ${what}. ${advice}`);
}
