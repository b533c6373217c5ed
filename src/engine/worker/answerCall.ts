// Calls functions in an isolate for the host, with `client.run` or for a plugin.
import { toErrorInfo } from '../../protocol/errorInfo.js';
import type { CallFunction, FromIsolate } from '../../protocol/isolateMessages.js';
import { isThenable } from './evaluator.js';
import { loadFunctions } from './loadFunctions.js';
import { taskContext } from './taskContext.js';

/** Calls the function and posts the answer. Never rejects: an exception is an answer. */
export async function answerCall(
  { call, fn, argument }: CallFunction,
  post: (message: FromIsolate) => void,
): Promise<void> {
  const answer = (value: unknown, error?: unknown): void =>
    post({ type: 'called', call, value, error: error === undefined ? undefined : toErrorInfo(error) });
  post({ type: 'call-taken', call });
  // A computation that the function starts counts as started by a task.
  const { running } = taskContext;
  taskContext.running = true;
  try {
    const loaded = loadFunctions([fn]);
    const [callable] = loaded instanceof Promise ? await loaded : loaded;
    const result = callable?.(argument);
    answer(isThenable(result) ? await result : result);
  } catch (error) {
    answer(undefined, error ?? new Error(`${error} was thrown`));
  } finally {
    taskContext.running = running;
  }
}
