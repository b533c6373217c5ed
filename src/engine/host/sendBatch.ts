// Sends a batch to a thread or a process, which receives a copy. A value that cannot be copied, e.g. an argument that
// the client has changed since, fails only the tasks that use it.

import { type LongpoleError, notCopyable } from '../../base/errors.js';
import type { Batch } from '../../protocol/isolateMessages.js';
import { splitLists } from '../worker/sendValues.js';

type Copy = (value: unknown) => unknown;

/**
 * Calls `send`. If it throws, calls it again without the values that cannot be copied. `copy` must copy a value, and
 * throw, as the channel does.
 */
export function sendBatch(batch: Batch, send: (batch: Batch) => void, copy: Copy): void {
  try {
    send(batch);
  } catch (error) {
    send(withoutCulprits(batch, copy, error));
  }
}

function withoutCulprits(batch: Batch, copy: Copy, error: unknown): Batch {
  const [inputs, constants] = splitLists([batch.inputs, batch.constants], copy, notCloneable, error);
  return {
    ...batch,
    inputs: inputs!.good,
    constants: constants!.good,
    uncloneable: [...(batch.uncloneable ?? []), ...constants!.bad],
    uncloneableInputs: [...(batch.uncloneableInputs ?? []), ...inputs!.bad],
  };
}

function notCloneable(reason: unknown): LongpoleError {
  const instead = 'Pass plain data, or create the value inside the task.';
  return notCopyable('An argument cannot be copied to a worker', reason, instead);
}
