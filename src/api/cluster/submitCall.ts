// Implements `submit` and `map`, for clients of a program and for clients inside tasks.
import { checkOptions, invalid } from '../../base/arguments.js';
import { isFunction, resolveFunction } from '../../graph/callable.js';
import { definedAnnotations } from '../../graph/definedWith.js';
import { Delayed } from '../../graph/delayed.js';
import type { External } from '../../graph/external.js';
import { functionName } from '../../graph/functionName.js';
import { tokenize } from '../../graph/tokenize.js';
import { uniqueToken } from '../../graph/uniqueToken.js';
import { arrayOf, notIterable } from '../argumentChecks.js';
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
  const options = optionsOfSubmit(fn, args);
  return submitOne(submitter, fn, options === undefined ? args : args.slice(0, -1), options ?? {}, code);
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
  const lists = (hasOptions ? args.slice(0, -1) : args).map(arrayOf);
  if (lists.length === 0) throw notIterable('nothing');
  const length = Math.min(...lists.map((list) => list.length));
  return Array.from({ length }, (_, index) => {
    const items = lists.map((list) => list[index]);
    const own = options.key === undefined ? options : { ...options, key: `${options.key}-${index}` };
    return submitOne(submitter, fn, items, own, code);
  });
}

function submitOne(
  { submissions, owner, known }: Submitter,
  fn: unknown,
  args: readonly unknown[],
  options: SubmitOptions,
  code: () => string,
): Future<unknown> {
  if (!isFunction(fn)) throw invalid('submit() and map(): fn', fn, 'a function');
  const annotated = { ...definedAnnotations.current, ...options };
  const target = resolveFunction(fn);
  const token = options.pure ? tokenize(target, ...args) : uniqueToken();
  const key = options.key ?? `${functionName(fn)}-${token}`;
  const existing = known(key);
  if (existing !== undefined) return new Future<unknown>(owner, key, existing);
  const future = new Future<unknown>(owner, key);
  submissions.add(new Delayed(key, target, args), future, annotated, code);
  return future;
}
