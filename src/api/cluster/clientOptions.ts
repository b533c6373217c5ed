// Options of a client's calls.
import {
  checkOptions,
  FINITE,
  FLAG,
  isMisspelling,
  isOptionsObject,
  NAMES,
  type OptionKinds,
  RESOURCES,
  SECONDS,
  SIGNAL,
  sameMeaning,
  TEXT,
  wholeNumber,
} from '../../base/arguments.js';
import { invalidArgument } from '../../base/errors.js';
import type { SegmentPolicy } from '../../engine/scheduler/taskGraph.js';
import { isFunction, resolveFunction } from '../../graph/callable.js';
import type { AbortSignalLike } from '../../graph/computeOptions.js';
import { functionName } from '../../graph/functionName.js';
import { parameterCount } from '../../graph/functionSource.js';
import type { ClusterTaskOptions } from '../../protocol/clientQuestions.js';
import type { RunWatcher } from '../../protocol/runObserver.js';

export interface SubmitOptions extends ClusterTaskOptions {
  /** Cancels the computation, including running tasks. */
  readonly signal?: AbortSignalLike | undefined;
  /** Key of the result. For `map`, the first part of the keys. Default: the name of the function and a token. */
  readonly key?: string | undefined;
  /**
   * Whether calls of equal functions with equal arguments are one task. Default false: each call is a separate task.
   */
  readonly pure?: boolean | undefined;
}

/** Options that apply to each task on a cluster. */
export const TASK_OPTIONS: OptionKinds<ClusterTaskOptions> = {
  priority: FINITE,
  retries: wholeNumber(0, 255),
  workers: NAMES,
  resources: RESOURCES,
  timeout: SECONDS,
};

export const SUBMIT_OPTIONS: OptionKinds<SubmitOptions> = {
  ...TASK_OPTIONS,
  signal: SIGNAL,
  key: TEXT,
  pure: FLAG,
};

/**
 * Whether the last argument of `submit` counts as its options: a plain object with one or more names of options only.
 */
function isSubmitOptions(value: unknown): value is SubmitOptions {
  if (!isOptionsObject(value)) return false;
  const names = Object.keys(value);
  return names.length > 0 && names.every((name) => Object.hasOwn(SUBMIT_OPTIONS, name));
}

/**
 * Returns the options of `submit` if its last argument counts as options.
 *
 * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT if it may also be an argument of the function, or has a name that is none
 */
export function optionsOfSubmit(fn: unknown, args: readonly unknown[]): SubmitOptions | undefined {
  const last = args.at(-1);
  if (!isSubmitOptions(last)) {
    if (
      isFunction(fn) &&
      looksLikeOptions(last) &&
      (parameterCount(resolveFunction(fn)) ?? Infinity) < args.length
    )
      checkOptions('submit()', last, SUBMIT_OPTIONS);
    return undefined;
  }
  const names = Object.keys(last).join(', ');
  if (isFunction(fn) && resolveFunction(fn).length >= args.length)
    throw invalidArgument(
      `submit(): { ${names} } may be options or argument ${args.length} of '${functionName(fn)}'. Pass an argument as ` +
        `literal({ ${names} }). Pass options after all arguments, with undefined for omitted ones.`,
    );
  return last;
}

/** Whether a value is a plain object with a name of an option, which may be misspelt or of another library. */
function looksLikeOptions(value: unknown): boolean {
  if (!isOptionsObject(value)) return false;
  const known = Object.keys(SUBMIT_OPTIONS);
  return Object.keys(value).some(
    (name) => sameMeaning(name, known).length > 0 || known.some((option) => isMisspelling(name, option)),
  );
}

/** Whether the last argument of `map` is its options: an object that is not iterable, while the other arguments are. */
export function isMapOptions(value: unknown): boolean {
  return value === undefined || (isOptionsObject(value) && !(Symbol.iterator in value));
}

/** Options of `Client.run`. */
export interface RunOptions {
  /** Names or addresses of workers. Default: all. */
  readonly workers?: string | readonly string[] | undefined;
}

export const RUN_OPTIONS: OptionKinds<RunOptions> = { workers: NAMES };

export interface ScatterOptions {
  /** Whether every worker receives every value. Default false. */
  readonly broadcast?: boolean;
  /** Names or addresses of the workers that receive the values in turn. Default: all. */
  readonly workers?: string | readonly string[];
}

export const SCATTER_OPTIONS: OptionKinds<ScatterOptions> = { broadcast: FLAG, workers: NAMES };

export interface SubmitPolicy {
  readonly signal: AbortSignalLike | undefined;
  readonly policy: SegmentPolicy;
  readonly timeout: number;
}

/**
 * Checks options and converts them for the scheduler.
 *
 * @param where name of the call, for the message, e.g. `submit()`
 * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT
 */
export function submitPolicy(where: string, options: SubmitOptions): SubmitPolicy {
  checkOptions(where, options, SUBMIT_OPTIONS);
  const { priority = 0, retries = 0, workers, resources, timeout = 0, signal } = options;
  const names = workers === undefined ? null : new Set(typeof workers === 'string' ? [workers] : workers);
  const needed = resources === undefined ? null : new Map(Object.entries(resources));
  return { policy: { priority, retries, workers: names, resources: needed }, timeout, signal };
}

/** A call that adds a computation. */
export interface Call {
  /** Start of the call, on the engine's clock. */
  readonly called: number;
  /** End of the program's own time in a burst of calls. Absent: the same as `called`. */
  readonly prepared?: number;
  /** Lines of the program that made the call. */
  readonly code: string;
}

export interface WatchedCall extends Call {
  readonly watchers: readonly RunWatcher[];
}
