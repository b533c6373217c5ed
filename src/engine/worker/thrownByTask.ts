// The error of a task as data: with a hint if its likely reason is known, and without the stack frames that called the task.
import { isError } from '../../base/errors.js';
import { type ErrorInfo, toErrorInfo } from '../../protocol/errorInfo.js';
import { isOwnStackFrame, isStackLine } from '../ownStackFrames.js';
import { EVALUATOR_URL } from './evaluator.js';
import { withPlainObjectHint } from './plainObjectHint.js';

/** Converts what a task threw. `argumentsOf` returns its arguments. */
export function thrownByTask(thrown: unknown, argumentsOf: () => readonly unknown[]): ErrorInfo {
  let hinted = thrown;
  try {
    hinted = withPlainObjectHint(thrown, argumentsOf);
  } catch {
    // The error is frozen, or its properties cannot be read.
  }
  return withTaskStacks(toErrorInfo(hinted));
}

function withTaskStacks(info: ErrorInfo): ErrorInfo {
  const { cause, errors } = info;
  return {
    ...info,
    stack: taskStack(info.stack),
    ...(cause === undefined ? {} : { cause: withTaskStacks(cause) }),
    ...(errors === undefined ? {} : { errors: errors.map(withTaskStacks) }),
  };
}

/** Cuts the stacks of an error and its causes, in place. */
export function cutStacks(thrown: unknown): void {
  const seen = new Set<unknown>();
  for (let error = thrown; isError(error) && !seen.has(error); error = error.cause) {
    seen.add(error);
    try {
      if (typeof error.stack === 'string') error.stack = taskStack(error.stack);
    } catch {
      // The error is frozen, or its properties cannot be read.
    }
  }
}

/**
 * Returns a stack up to the function of the task. Without a stack frame of the task, e.g. of an error of Longpole, the stack is
 * returned unchanged.
 */
export function taskStack(stack: string): string {
  const lines = stack.split('\n');
  const calls = (line: string): boolean => isStackLine(line) && line.includes(EVALUATOR_URL);
  let end = lines.findLastIndex(calls) + 1;
  if (end > 0) while (end > 0 && calls(lines[end - 1]!)) end--;
  else {
    // After an `await`, the stack has no stack frame of the evaluator.
    end = lines.length;
    while (end > 0 && isOwnStackFrame(lines[end - 1]!)) end--;
  }
  const left = lines.slice(0, end);
  return left.some(isStackLine) ? left.join('\n') : stack;
}
