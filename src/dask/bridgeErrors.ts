// The errors of both bridges to Dask: the one that watches a cluster and the one that runs tasks on it.
import { FILES_ADVICE, LongpoleError } from '../base/errors.js';

/** Advice for failures whose cause is in the bridge. */
export const REPORT = 'Connect again. If this happens again, please report it with this message.';

/** `tried` has one text per Python: its path, and why it is not suitable. */
export function noPythonError(tried: readonly string[]): LongpoleError {
  return new LongpoleError(
    'ERR_LONGPOLE_PYTHON',
    `No Python with distributed was found (${tried.join('; ')}). Pass the Python of your cluster as the option python, as ` +
      '--python, or as LONGPOLE_PYTHON. Or install distributed: python3 -m pip install distributed.',
  );
}

/** @param what states the versions that do not fit, as a clause */
export function versionsError(address: string, what: string): LongpoleError {
  return new LongpoleError(
    'ERR_LONGPOLE_DASK_VERSION',
    `The versions of the cluster at ${address} and of the bridge do not fit: ${what}. Pass a Python with the versions ` +
      'of the cluster as the option python, as --python, or as LONGPOLE_PYTHON.',
  );
}

export function notReadyError(address: string, seconds: number): LongpoleError {
  return new LongpoleError(
    'ERR_LONGPOLE_DASK_CONNECT',
    `The bridge to ${address} was not ready within ${seconds} s. Try again when the scheduler is idle.`,
  );
}

export function tooManyFilesError(address: string): LongpoleError {
  return new LongpoleError(
    'ERR_LONGPOLE_DASK_BRIDGE',
    `The bridge to ${address} could not be started, because too many files are open (EMFILE or ENFILE). ` +
      FILES_ADVICE,
  );
}

/** @param code exit code of the process; null: a signal killed it */
export function bridgeEndedError(address: string, code: number | null, stderr: string): LongpoleError {
  const how = code === null ? 'was killed' : `ended with code ${code}`;
  const last = lastLine(stderr);
  return new LongpoleError(
    'ERR_LONGPOLE_DASK_BRIDGE',
    `The bridge to ${address} ${how}${last === '' ? '' : `; its last line was: ${last}`}. ${REPORT}`,
  );
}

export function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? '';
}
