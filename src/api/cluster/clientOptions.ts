// Options of everything that a client submits.

import {
  checkOptions,
  FLAG,
  isOptionsObject,
  kind,
  NAMES,
  type OptionKinds,
  RESOURCES,
  SECONDS,
  SIGNAL,
  TEXT,
} from '../../base/arguments.js';
import { LongpoleError } from '../../base/errors.js';
import type { SegmentPolicy } from '../../engine/scheduler/taskGraph.js';
import { isFunction, resolveFunction } from '../../graph/callable.js';
import type { AbortSignalLike, ClusterTaskOptions } from '../../graph/computeOptions.js';
import { functionName } from '../../graph/functionName.js';
import type { RunWatcher } from '../../protocol/runObserver.js';

export interface SubmitOptions extends ClusterTaskOptions {
  /** Cancels the computation, also a task that is running. */
  readonly signal?: AbortSignalLike | undefined;
  /** The key of the result; of `map`, what the keys begin with. Default: the function's name and a token. */
  readonly key?: string | undefined;
  /** Equal functions with equal arguments are one task. Default false: every call is a task of its own. */
  readonly pure?: boolean | undefined;
}

/** What a cluster takes for every task. */
export const TASK_OPTIONS: OptionKinds<ClusterTaskOptions> = {
  priority: kind('a number', (value) => typeof value === 'number' && Number.isFinite(value)),
  retries: kind(
    'a whole number from 0 to 255',
    (value) => typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 255,
  ),
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

/** Whether the last argument of `submit` is its options: a plain object with nothing but names of options, and at least one. */
export function isSubmitOptions(value: unknown): value is SubmitOptions {
  if (!isOptionsObject(value)) return false;
  const names = Object.keys(value);
  return names.length > 0 && names.every((name) => Object.hasOwn(SUBMIT_OPTIONS, name));
}

/**
 * The options of `submit`, if its last argument is such.
 *
 * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT if it may as well be an argument of the function
 */
export function optionsOfSubmit(fn: unknown, args: readonly unknown[]): SubmitOptions | undefined {
  const last = args.at(-1);
  if (!isSubmitOptions(last)) return undefined;
  const names = Object.keys(last).join(', ');
  if (isFunction(fn) && resolveFunction(fn).length >= args.length)
    throw new LongpoleError(
      'ERR_LONGPOLE_INVALID_ARGUMENT',
      `submit(): { ${names} } may be options or argument ${args.length} of '${functionName(fn)}'. Pass it as literal({ ${names} }) if it ` +
        'is an argument, or pass undefined for the arguments that are left out, and the options behind them.',
    );
  return last;
}

/** The same for `map`, where the others are iterables: an object that is none cannot be meant as one of them. */
export function isMapOptions(value: unknown): boolean {
  return value === undefined || (isOptionsObject(value) && !(Symbol.iterator in value));
}

/** Options of `Client.run`. */
export interface RunOptions {
  /** Names or addresses. Default: all workers. */
  readonly workers?: string | readonly string[] | undefined;
}

export const RUN_OPTIONS: OptionKinds<RunOptions> = { workers: NAMES };

export interface SubmitPolicy {
  readonly signal: AbortSignalLike | undefined;
  readonly policy: SegmentPolicy;
  readonly timeout: number;
}

/**
 * @param where what was called with the options, e.g. `submit()`
 * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT
 */
export function submitPolicy(where: string, options: SubmitOptions): SubmitPolicy {
  checkOptions(where, options, SUBMIT_OPTIONS);
  const { priority = 0, retries = 0, workers, resources, timeout = 0, signal } = options;
  const names = workers === undefined ? null : new Set(typeof workers === 'string' ? [workers] : workers);
  const needed = resources === undefined ? null : new Map(Object.entries(resources));
  return { policy: { priority, retries, workers: names, resources: needed }, timeout, signal };
}

/** What is known of a call that asks for a computation. */
export interface Call {
  /** When it began, on the engine's clock. */
  readonly called: number;
  /** The lines of the program that made it. */
  readonly code: string;
}

export interface WatchedCall extends Call {
  readonly watchers: readonly RunWatcher[];
}
