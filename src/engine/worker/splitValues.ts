// Splits values that could not be sent together into sendable values and errors for the others.
import type { LongpoleError } from '../../base/errors.js';
import { type ErrorInfo, toErrorInfo } from '../../protocol/errorInfo.js';
import type { Values } from '../../protocol/isolateMessages.js';
import { isScalar, kindOf } from '../../protocol/resultKinds.js';

export interface SplitValues {
  readonly good: Values;
  readonly bad: readonly { readonly id: number; readonly error: ErrorInfo }[];
}

/**
 * Returns copies of the values that can be copied, because a getter that throws sometimes must not be called again.
 * `copy` copies like the channel, and throws its errors; `explain` converts such an exception to an error.
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
