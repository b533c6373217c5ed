// Calls functions in an isolate for the host, with `client.run` or for a plugin.
import { toErrorInfo } from '../../protocol/errorInfo.js';
import type { CallFunction, FromIsolate } from '../../protocol/isolateMessages.js';
import { isThenable } from './evaluator.js';
import { loadFunctions } from './loadFunctions.js';
import { meterContext } from './meterContext.js';
import { taskContext } from './taskContext.js';

export class HostCalls {
  readonly #post: (message: FromIsolate) => void;
  /** Resolves when the calls that tasks wait for have ended; undefined if there are none. Never rejects. */
  settingUp: Promise<void> | undefined;

  constructor(post: (message: FromIsolate) => void) {
    this.#post = post;
  }

  take(message: CallFunction): void {
    // A call that arrives during a task does not belong to it.
    const answered = meterContext.run(undefined, () => this.#answer(message));
    if (!message.tasksWait) return;
    const setUp = Promise.all([this.settingUp, answered]).then(() => {
      if (this.settingUp === setUp) this.settingUp = undefined;
    });
    this.settingUp = setUp;
  }

  /** Calls the function and posts the answer. Never rejects: an exception is an answer. */
  async #answer({ call, fn, argument }: CallFunction): Promise<void> {
    const answer = (value: unknown, error?: unknown): void =>
      this.#post({
        type: 'called',
        call,
        value,
        error: error === undefined ? undefined : toErrorInfo(error),
      });
    this.#post({ type: 'call-taken', call });
    // A computation that the function starts counts as started by a task.
    taskContext.running++;
    try {
      const loaded = loadFunctions([fn]);
      const [callable] = loaded instanceof Promise ? await loaded : loaded;
      const result = callable?.(argument);
      answer(isThenable(result) ? await result : result);
    } catch (error) {
      answer(undefined, error ?? new Error(`${error} was thrown`));
    } finally {
      taskContext.running--;
    }
  }
}
