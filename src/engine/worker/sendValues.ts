// Results on their way out of a worker process. The channel between processes refuses some of what threads can send each
// other, such as shared memory: then the task has failed, and the process goes on.
import { deserialize, serialize } from 'node:v8';
import type { FinishedTasks } from '../../protocol/finishedTasks.js';
import type { Values } from '../../protocol/isolateMessages.js';
import { KIND_ERROR } from '../../protocol/resultKinds.js';
import { notCloneable } from './isolateRun.js';
import { type SplitValues, splitValues } from './splitValues.js';

/** Calls `send` with all values, and if that throws once more with those that can be sent and the errors of the others. */
export function sendValues(values: Values, send: (values: Values, errors: SplitValues['bad']) => void): void {
  try {
    send(values, []);
  } catch (error) {
    let { good, bad } = splitValues(values, (value) => deserialize(serialize(value)), notCloneable);
    if (bad.length === 0) {
      // Each can be copied, and all together cannot: none is to be trusted.
      const refuse = (): never => {
        throw error;
      };
      ({ good, bad } = splitValues(values, refuse, notCloneable));
    }
    send(good, bad);
  }
}

/** Sends what a process tells of its tasks; those whose results cannot be sent have failed. */
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
