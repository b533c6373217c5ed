// Values that could not be sent together: those that can be, and why the others cannot.
import type { LongpoleError } from '../../base/errors.js';
import { type ErrorInfo, toErrorInfo } from '../../protocol/errorInfo.js';
import type { Values } from '../../protocol/isolateMessages.js';
import { isScalar, kindOf } from '../../protocol/resultKinds.js';

export interface SplitValues {
  readonly good: Values;
  readonly bad: readonly { readonly id: number; readonly error: ErrorInfo }[];
}

/**
 * Copies of the values that can be copied: a getter that throws now and then has been asked for the last time. `copy` copies as
 * the channel does, and throws what the channel throws; `explain` makes an error of it.
 */
export function splitValues(
  { ids, values }: Values,
  copy: (value: unknown) => unknown,
  explain: (reason: unknown) => LongpoleError,
): SplitValues {
  const goodIds: number[] = [];
  const good: unknown[] = [];
  const bad: { id: number; error: ErrorInfo }[] = [];
  for (const [index, id] of ids.entries()) {
    const value = values[index];
    try {
      good.push(isScalar(kindOf(value)) ? value : copy(value));
      goodIds.push(id);
    } catch (reason) {
      bad.push({ id, error: toErrorInfo(explain(reason)) });
    }
  }
  return { good: { ids: Int32Array.from(goodIds), values: good }, bad };
}
