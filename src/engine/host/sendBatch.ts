// Sends a batch to a thread or a process, which receives a copy. A value that cannot be copied, e.g. an argument that
// the client has changed since, fails only the tasks that use it.

import { type LongpoleError, notCopyable } from '../../base/errors.js';
import type { Batch } from '../../protocol/isolateMessages.js';
import { splitValues } from '../worker/sendValues.js';

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
  let inputs = splitValues(batch.inputs, copy, notCloneable);
  let constants = splitValues(batch.constants, copy, notCloneable);
  if (inputs.bad.length + constants.bad.length === 0) {
    // Every value can be cloned alone but not together, so reject the whole batch.
    const refuse = (): never => {
      throw error;
    };
    inputs = splitValues(batch.inputs, refuse, notCloneable);
    constants = splitValues(batch.constants, refuse, notCloneable);
  }
  return {
    ...batch,
    inputs: inputs.good,
    constants: constants.good,
    uncloneable: [...(batch.uncloneable ?? []), ...constants.bad],
    uncloneableInputs: [...(batch.uncloneableInputs ?? []), ...inputs.bad],
  };
}

function notCloneable(reason: unknown): LongpoleError {
  const instead = 'Pass plain data, or create the value inside the task.';
  return notCopyable('An argument cannot be copied to a worker', reason, instead);
}
