// Sends results out of a worker process. The channel between processes refuses some values that threads can send,
// such as shared memory. Then the task has failed, and the process continues.
import { deserialize, serialize } from 'node:v8';
import type { LongpoleError } from '../../base/errors.js';
import { type ErrorInfo, toErrorInfo } from '../../protocol/errorInfo.js';
import type { FinishedTasks } from '../../protocol/finishedTasks.js';
import type { Values } from '../../protocol/isolateMessages.js';
import { isScalar, KIND_ERROR, kindOf } from '../../protocol/resultKinds.js';
import { notCloneable } from './notCloneable.js';

/** Calls `send` with all values. If that throws, calls it again with the sendable values and errors for the others. */
export function sendValues(values: Values, send: (values: Values, errors: SplitValues['bad']) => void): void {
  try {
    send(values, []);
  } catch (error) {
    const copy = (value: unknown): unknown => deserialize(serialize(value));
    const [split] = splitLists([values], copy, notCloneable, error);
    send(split!.good, split!.bad);
  }
}

/** Sends completions of a process. Tasks whose results cannot be sent have failed. */
export function sendFinished(message: FinishedTasks, send: (message: FinishedTasks) => void): void {
  sendValues(message.values, (values, errors) => {
    const failed = new Set(errors.map(({ id }) => id));
    const kinds =
      failed.size === 0
        ? message.kinds
        : message.kinds.map((kind, row) => (failed.has(message.ids[row]!) ? KIND_ERROR : kind));
    send({ ...message, kinds, values, errors: [...message.errors, ...errors] });
  });
}

interface SplitValues {
  readonly good: Values;
  readonly bad: readonly { readonly id: number; readonly error: ErrorInfo }[];
}

/** Splits the values of a message that could not be copied because of `error`. */
export function splitLists(
  lists: readonly Values[],
  copy: (value: unknown) => unknown,
  explain: (reason: unknown) => LongpoleError,
  error: unknown,
): SplitValues[] {
  const split = lists.map((values) => splitValues(values, copy, explain));
  if (split.some(({ bad }) => bad.length > 0)) return split;
  // Every value can be copied alone but not together, so all are refused.
  const refuse = (): never => {
    throw error;
  };
  return lists.map((values) => splitValues(values, refuse, explain));
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
