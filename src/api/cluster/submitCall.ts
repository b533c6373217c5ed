// Implements `submit` and `map`, for clients of a program and for clients inside tasks.
import { checkOptions, invalid } from '../../base/arguments.js';
import { type AnyFunction, isFunction, resolveFunction } from '../../graph/callable.js';
import { definedAnnotations } from '../../graph/definedWith.js';
import { Delayed } from '../../graph/delayed.js';
import type { External } from '../../graph/external.js';
import { functionName } from '../../graph/functionName.js';
import { tokenize } from '../../graph/tokenize.js';
import { uniqueToken } from '../../graph/uniqueToken.js';
import { argumentsOfCalls } from '../argumentChecks.js';
import { isMapOptions, optionsOfSubmit, SUBMIT_OPTIONS, type SubmitOptions } from './clientOptions.js';
import { Future, type FutureHandle, type FutureOwner } from './future.js';
import type { PendingSubmissions } from './pendingSubmissions.js';

/** The parts of a client that submit calls. */
export interface Submitter {
  readonly submissions: PendingSubmissions;
  readonly owner: FutureOwner;
  /** Returns the result of a key that need not be computed again. */
  known(key: string): (External & FutureHandle) | undefined;
}

/** @param code returns the line of the program that made the call */
export function submitCall(
  submitter: Submitter,
  fn: unknown,
  args: readonly unknown[],
  code: () => string,
): Future<unknown> {
  return submitter.submissions.during(() => {
    const options = optionsOfSubmit(fn, args);
    const called = calledFunction(fn, options ?? {});
    return submitOne(submitter, called, options === undefined ? args : args.slice(0, -1), options?.key, code);
  });
}

export function mapCalls(
  submitter: Submitter,
  fn: unknown,
  args: readonly unknown[],
  code: () => string,
): Future<unknown>[] {
  const last = args.at(-1);
  const hasOptions = isMapOptions(last);
  const options: SubmitOptions = (hasOptions ? last : undefined) ?? {};
  checkOptions('Client.map', options, SUBMIT_OPTIONS);
  const calls = [...argumentsOfCalls(hasOptions ? args.slice(0, -1) : args)];
  const called = calledFunction(fn, options);
  return submitter.submissions.during(() =>
    calls.map((items, index) => {
      const key = options.key === undefined ? undefined : `${options.key}-${index}`;
      return submitOne(submitter, called, items, key, code);
    }),
  );
}

/** The common part of the tasks of one `map`. */
interface CalledFunction {
  readonly target: AnyFunction;
  readonly name: string;
  /** The options of the call, and the annotations that apply to it. */
  readonly options: SubmitOptions;
}

function calledFunction(fn: unknown, options: SubmitOptions): CalledFunction {
  if (!isFunction(fn)) throw invalid('submit() and map(): fn', fn, 'a function');
  return {
    target: resolveFunction(fn),
    name: functionName(fn),
    options: { ...definedAnnotations.current, ...options },
  };
}

function submitOne(
  { submissions, owner, known }: Submitter,
  { target, name, options }: CalledFunction,
  args: readonly unknown[],
  givenKey: string | undefined,
  code: () => string,
): Future<unknown> {
  const key = givenKey ?? `${name}-${options.pure ? tokenize(target, ...args) : uniqueToken()}`;
  const existing = known(key);
  if (existing !== undefined) return new Future<unknown>(owner, key, existing);
  const future = new Future<unknown>(owner, key);
  submissions.add(new Delayed(key, target, args), future, options, code);
  return future;
}
