// The errors of both bridges to Dask: the one that watches a cluster and the one that runs tasks on it.
import { LongpoleError, sentenceOf } from '../base/errors.js';

/** Advice for failures whose cause is in the bridge. */
export const REPORT = 'Connect again. If this happens again, please report it with this message.';

/** @param what states the versions that do not fit, as a clause */
export function versionsError(address: string, what: string): LongpoleError {
  return new LongpoleError(
    'ERR_LONGPOLE_DASK_VERSION',
    `The versions of the cluster at ${address} and of the bridge do not fit: ${what}. Pass a Python with the versions ` +
      'of the cluster as the option python, as --python, or as LONGPOLE_PYTHON.',
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

/** @param cause the exception during the processing of the bridge's output */
export function bridgeOutputError(address: string, cause: unknown): LongpoleError {
  if (cause instanceof LongpoleError) return cause;
  return new LongpoleError(
    'ERR_LONGPOLE_DASK_BRIDGE',
    `The output of the bridge to ${address} could not be processed: ${sentenceOf(cause)} ${REPORT}`,
    { cause },
  );
}

export function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? '';
}
