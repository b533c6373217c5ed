// Errors for damaged bytes. The reader of a file catches DamagedBytes and either skips the damaged part or reports the
// file.
import { LongpoleError } from '../../base/errors.js';

export class DamagedBytes extends Error {}

/** Throws DamagedBytes. `what` is a clause without a full stop. */
export function damaged(what: string): never {
  throw new DamagedBytes(what);
}

/** Throws ERR_LONGPOLE_TRACE_FORMAT for the file `name`. `what` is a clause without a full stop. */
export function unusableTrace(
  name: string,
  what: string,
  advice = 'Copy the trace again, or record it again.',
): never {
  throw new LongpoleError('ERR_LONGPOLE_TRACE_FORMAT', `${name} cannot be read: ${what}. ${advice}`);
}

/** Returns what `read` returns. Throws ERR_LONGPOLE_TRACE_FORMAT if the bytes of the file `name` are damaged. */
export function readUndamaged<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof DamagedBytes)) throw error;
    return unusableTrace(name, error.message);
  }
}
