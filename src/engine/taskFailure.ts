// The errors of runs, made from reports of isolates.

import {
  adviceFor,
  isError,
  isErrorCode,
  KilledWorkerError,
  LongpoleError,
  sentenceOf,
  TaskError,
} from '../base/errors.js';
import { countText } from '../base/words.js';
import { thrownText } from '../protocol/errorInfo.js';
import { withoutOwnStackFrames } from './ownStackFrames.js';
import { type TaskNames, taskFunctionName } from './runView.js';

/** Returns the error of a task that threw `thrown` on this worker. */
export function taskError(tasks: TaskNames, id: number, worker: string, thrown: unknown): TaskError {
  const where = { key: tasks.keys[id]!, function: taskFunctionName(tasks, id), worker };
  const what = isError(thrown)
    ? `${thrown.name}: ${thrown.message}`
    : `It threw ${thrownText(thrown)}, which is not an Error.`;
  const code: unknown = isError(thrown) && 'code' in thrown ? thrown.code : undefined;
  const message = `Task '${where.key}' (function ${where.function}, worker ${worker}) failed. ${what}`;
  const error = new TaskError(where, message, { cause: thrown, ...(isErrorCode(code) ? { code } : {}) });
  return withoutOwnStackFrames(error, tasks.code);
}

/** Name of an error that ended a thread because no code caught it. Names of errors travel between processes. */
const UNCAUGHT = 'UncaughtError';

/** Returns the reason for the end of a thread, given the error that the thread has emitted. */
export function threadError(emitted: unknown): Error {
  const error = isError(emitted) ? emitted : new Error(String(emitted));
  // Node has ended the thread, e.g. because its heap is exhausted.
  if ('code' in error && String(error.code).startsWith('ERR_WORKER_')) return error;
  const uncaught = new Error(`An error was not caught: ${error.name}: ${error.message}`, { cause: error });
  uncaught.name = UNCAUGHT;
  return uncaught;
}

/** Returns the error of a task during which `attempts` workers have died. */
export function killedWorkerError(
  tasks: TaskNames,
  id: number,
  worker: string,
  attempts: number,
  cause: Error,
): KilledWorkerError {
  const where = { key: tasks.keys[id]!, function: taskFunctionName(tasks, id), worker };
  const isUncaught = cause.name === UNCAUGHT;
  const message =
    `Task '${where.key}' (function ${where.function}) was running ${countText(attempts, 'time')} when its worker died; it is not tried again. ` +
    `The last worker was ${worker}: ${sentenceOf(cause)} ` +
    (isUncaught
      ? 'Await every promise that the task creates, or handle its rejection. Catch errors in callbacks of timers and events.'
      : 'Look for process.exit(), exhausted memory or a crash in native code.');
  const error = new KilledWorkerError(where, attempts, message, { cause: isUncaught ? cause.cause : cause });
  return withoutOwnStackFrames(error, tasks.code);
}

/** Returns the error of a task that exceeded its `timeout` option, so that its isolate was ended. Times in seconds. */
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
  const error = new TaskError(where, message, { code: 'ERR_LONGPOLE_TASK_TIMEOUT' });
  return withoutOwnStackFrames(error, tasks.code);
}

/** Returns why a worker could not be started, and what to do. */
export function startAdvice(cause: Error): string {
  if (cause instanceof LongpoleError) return cause.message;
  return `${sentenceOf(cause)} ${adviceFor(cause, 'Use fewer workers, or raise the limits on processes and memory.')}`;
}

/** Returns whether a worker ended before it was up. It has run no task. */
export function isStartError(cause: Error): boolean {
  return 'code' in cause && cause.code === 'ERR_LONGPOLE_WORKER_START';
}

/** Returns the error of a worker that ended before it was up. */
export function workerStartError(name: string, cause: Error): LongpoleError {
  return new LongpoleError(
    'ERR_LONGPOLE_WORKER_START',
    `Worker ${name} could not be started: ${startAdvice(cause)}`,
    { cause },
  );
}

/**
 * Returns the error for repeated deaths of idle workers, e.g. because the import of a task's module ends the thread.
 */
export function idleDeathsError(worker: string, cause: Error): LongpoleError {
  if (cause instanceof LongpoleError) return cause;
  return new LongpoleError(
    'ERR_LONGPOLE_WORKER_START',
    `Workers end again and again without running a task; the last was ${worker}: ${sentenceOf(cause)} ` +
      'Check what the modules of the tasks do when they are imported.',
    { cause },
  );
}

/** Returns the error of a run that was cancelled through its signal, with the signal's reason as the cause. */
export function abortedError(reason: unknown, finished: number, size: number): LongpoleError {
  const error = new LongpoleError(
    'ERR_LONGPOLE_ABORTED',
    `The computation was cancelled after ${finished} of ${countText(size, 'task')}.`,
    { cause: reason },
  );
  // Node's functions report a cancellation under this name, so one check handles all.
  error.name = 'AbortError';
  return error;
}

/** Largest length of a stack in an event, in characters. */
const MAX_STACK = 8000;

/** Returns the failure of a task as the text of an event: the message, which names the task, and the stack. */
export function failureText(error: unknown): string {
  if (!isError(error)) return String(error);
  const { cause } = error;
  const stack = isError(cause) ? (cause.stack ?? '') : '';
  if (stack === '') return error.message;
  // Most stacks begin with the end of the message.
  const head = isError(cause) ? `${cause.name}: ${cause.message}\n` : '';
  const isSaid = stack.startsWith(head) && `${error.message}\n`.endsWith(head);
  return `${error.message}\n${(isSaid ? stack.slice(head.length) : stack).slice(0, MAX_STACK)}`;
}
