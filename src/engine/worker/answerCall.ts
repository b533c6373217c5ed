// A function that the host calls in an isolate, with `client.run` or for a plugin.
import { toErrorInfo } from '../../protocol/errorInfo.js';
import type { CallFunction, FromIsolate } from '../../protocol/isolateMessages.js';
import { isThenable } from './evaluator.js';
import { loadFunctions } from './loadFunctions.js';
import { taskContext } from './taskContext.js';

/** Calls it and posts the answer. Never rejects: what the function throws is the answer. */
export async function answerCall(
  { call, fn, argument }: CallFunction,
  post: (message: FromIsolate) => void,
): Promise<void> {
  const answer = (value: unknown, error?: unknown): void =>
    post({ type: 'called', call, value, error: error === undefined ? undefined : toErrorInfo(error) });
  post({ type: 'call-taken', call });
  // What a task that is called from here computes belongs to it.
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
