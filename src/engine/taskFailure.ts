// The errors that a run ends with, made from what an isolate reported.

import { ERROR_CODES, type ErrorCode, KilledWorkerError, LongpoleError, TaskError } from '../base/errors.js';
import { isError } from '../base/isError.js';
import { type TaskNames, taskFunctionName } from './runView.js';

function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && code in ERROR_CODES;
}

/** A task threw `thrown` on the worker of this name. */
export function taskError(tasks: TaskNames, id: number, worker: string, thrown: unknown): TaskError {
  const where = { key: tasks.keys[id]!, function: taskFunctionName(tasks, id), worker };
  const what = isError(thrown)
    ? `${thrown.name}: ${thrown.message}`
    : `It threw ${describe(thrown)}, which is not an Error.`;
  const code: unknown = isError(thrown) && 'code' in thrown ? thrown.code : undefined;
  const message = `Task '${where.key}' (function ${where.function}, worker ${worker}) failed. ${what}`;
  return new TaskError(where, message, { cause: thrown, ...(isErrorCode(code) ? { code } : {}) });
}

/** A task was running each time its worker died. */
export function killedWorkerError(
  tasks: TaskNames,
  id: number,
  worker: string,
  attempts: number,
  cause: Error,
): KilledWorkerError {
  const where = { key: tasks.keys[id]!, function: taskFunctionName(tasks, id), worker };
  const message =
    `Task '${where.key}' (function ${where.function}) was running ${attempts} times when its worker died; it is not tried again. ` +
    `The last worker was ${worker}: ${sentence(cause.message)} Look for process.exit(), exhausted memory or a crash in native code.`;
  return new KilledWorkerError(where, attempts, message, { cause });
}

/** A task ran longer than its `timeout` option allows; its isolate was ended. Times in seconds. */
export function taskTimeoutError(
  tasks: TaskNames,
  id: number,
  worker: string,
  timeout: number,
  seconds: number,
): TaskError {
  const where = { key: tasks.keys[id]!, function: taskFunctionName(tasks, id), worker };
  const message =
    `Task '${where.key}' (function ${where.function}, worker ${worker}) was ended after ${seconds.toFixed(2)} s: ` +
    `its timeout is ${timeout} s. Raise the timeout, or divide the task.`;
  return new TaskError(where, message, { code: 'ERR_LONGPOLE_TASK_TIMEOUT' });
}

/** The worker of this name ended before it was up. */
export function workerStartError(name: string, cause: Error): LongpoleError {
  return new LongpoleError(
    'ERR_LONGPOLE_WORKER_START',
    `Worker ${name} could not be started: ${cause.message}`,
    { cause },
  );
}

/** Workers keep dying before they run anything, as they do when the import of a task's module ends its thread. */
export function idleDeathsError(worker: string, cause: Error): LongpoleError {
  if (cause instanceof LongpoleError) return cause;
  return new LongpoleError(
    'ERR_LONGPOLE_WORKER_START',
    `Workers end again and again without running a task; the last was ${worker}: ${sentence(cause.message)} ` +
      'Look at what the modules of the tasks do when they are imported.',
    { cause },
  );
}

/** The run was cancelled through its signal. `cause` is the signal's reason. */
export function abortedError(reason: unknown, finished: number, size: number): LongpoleError {
  const error = new LongpoleError(
    'ERR_LONGPOLE_ABORTED',
    `The computation was cancelled after ${finished} of ${size} tasks.`,
    { cause: reason },
  );
  // The name by which Node's own functions report a cancellation, so that one check serves for all.
  error.name = 'AbortError';
  return error;
}

/** Messages of Node and V8 end with or without a full stop. */
function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

function describe(value: unknown): string {
  try {
    return String(value);
  } catch {
    return 'a value that cannot be shown as text';
  }
}

/** Longer stacks are cut. */
const MAX_STACK = 8000;

/** The failure of a task as an event says it: the message, which names the task, and where it was thrown. */
export function failureText(error: unknown): string {
  if (!isError(error)) return String(error);
  const { cause } = error;
  const stack = isError(cause) ? (cause.stack ?? '') : '';
  if (stack === '') return error.message;
  // Most stacks begin with the very words that the message ends with.
  const head = isError(cause) ? `${cause.name}: ${cause.message}\n` : '';
  const isSaid = stack.startsWith(head) && `${error.message}\n`.endsWith(head);
  return `${error.message}\n${(isSaid ? stack.slice(head.length) : stack).slice(0, MAX_STACK)}`;
}
