// A batch on its way to a thread or a process, which copies what it is given. An argument that cannot be copied is the error
// of the tasks that use it, and of nothing else.
import { LongpoleError } from '../../base/errors.js';
import { toErrorInfo } from '../../protocol/errorInfo.js';
import type { UncloneableConstant, Values } from '../../protocol/isolateMessages.js';
import { cloneError } from '../worker/isolateRun.js';

interface Batch {
  readonly constants: Values;
  readonly uncloneable?: readonly UncloneableConstant[];
}

/**
 * Calls `send`, and if that throws once more without the constants that cannot be copied. `copy` copies a value as the
 * channel does, and throws what the channel throws.
 */
export function sendBatch<B extends Batch>(
  batch: B,
  send: (batch: B) => void,
  copy: (value: unknown) => unknown,
): void {
  try {
    send(batch);
  } catch (error) {
    const { constants, uncloneable } = split(batch.constants, copy, error);
    send({ ...batch, constants, uncloneable: [...(batch.uncloneable ?? []), ...uncloneable] });
  }
}

/** The constants that can be copied, and those that cannot; if all can, none is to be trusted. */
function split(
  { ids, values }: Values,
  copy: (value: unknown) => unknown,
  error: unknown,
): { readonly constants: Values; readonly uncloneable: readonly UncloneableConstant[] } {
  const reasons = values.map((value) => cloneError(value, copy));
  const culprits = reasons.every((reason) => reason === undefined) ? reasons.map(() => error) : reasons;
  const uncloneable: UncloneableConstant[] = [];
  for (const [index, reason] of culprits.entries())
    if (reason !== undefined) uncloneable.push({ id: ids[index]!, error: toErrorInfo(notCloneable(reason)) });
  return {
    constants: {
      ids: ids.filter((_id, index) => culprits[index] === undefined),
      values: values.filter((_value, index) => culprits[index] === undefined),
    },
    uncloneable,
  };
}

function notCloneable(reason: unknown): LongpoleError {
  const why = reason instanceof Error ? reason.message : String(reason);
  return new LongpoleError(
    'ERR_LONGPOLE_NOT_CLONEABLE',
    `An argument cannot be copied to a worker: ${why} Pass plain data, or make the value inside the task.`,
    { cause: reason },
  );
}
