// Options of everything that a client submits.

import type { SegmentPolicy } from '../../engine/scheduler/taskGraph.js';
import type { AbortSignalLike, ClusterTaskOptions } from '../../graph/computeOptions.js';
import { isPlainObject } from '../../graph/nesting.js';
import { invalid } from '../argumentChecks.js';

export interface SubmitOptions extends ClusterTaskOptions {
  /** Cancels the computation, also a task that is running. */
  readonly signal?: AbortSignalLike | undefined;
  /** The key of the result; of `map`, what the keys begin with. Default: the function's name and a token. */
  readonly key?: string | undefined;
  /** Equal functions with equal arguments are one task. Default false: every call is a task of its own. */
  readonly pure?: boolean | undefined;
}

const NAMES: ReadonlySet<string> = new Set([
  'signal',
  'priority',
  'retries',
  'workers',
  'key',
  'pure',
  'resources',
  'timeout',
]);

/** Whether the last argument of `submit` is its options: a plain object with nothing but names of options, and at least one. */
export function isSubmitOptions(value: unknown): value is SubmitOptions {
  if (typeof value !== 'object' || value === null || !isPlainObject(value)) return false;
  const names = Object.keys(value);
  return names.length > 0 && names.every((name) => NAMES.has(name));
}

/** The same for `map`, where the others are iterables: options that are empty or undefined cannot be meant as one of them. */
export function isMapOptions(value: unknown): value is SubmitOptions | undefined {
  if (value === undefined || isSubmitOptions(value)) return true;
  if (typeof value !== 'object' || value === null || Symbol.iterator in value) return false;
  return isPlainObject(value) && Object.keys(value).length === 0;
}

export interface SubmitPolicy {
  readonly policy: SegmentPolicy;
  readonly timeout: number;
}

/** @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT */
export function submitPolicy(options: SubmitOptions): SubmitPolicy {
  const { priority = 0, retries = 0, workers, resources, timeout = 0, signal, key } = options;
  if (key !== undefined && (typeof key !== 'string' || key === '')) throw invalid('key', key, 'a text');
  if (workers !== undefined && typeof workers !== 'string' && !Array.isArray(workers))
    throw invalid('workers', workers, 'a name or an array of names');
  if (resources !== undefined && (typeof resources !== 'object' || resources === null))
    throw invalid('resources', resources, 'an object such as { GPU: 1 }');
  if (typeof priority !== 'number' || !Number.isFinite(priority))
    throw invalid('priority', priority, 'a number');
  if (!Number.isInteger(retries) || retries < 0 || retries > 255)
    throw invalid('retries', retries, 'a whole number from 0 to 255');
  if (typeof timeout !== 'number' || !(timeout >= 0)) throw invalid('timeout', timeout, 'seconds');
  if (
    signal !== undefined &&
    (typeof signal !== 'object' || signal === null || !('addEventListener' in signal))
  )
    throw invalid('signal', signal, 'an AbortSignal, e.g. that of an AbortController');
  const names = workers === undefined ? null : new Set(typeof workers === 'string' ? [workers] : workers);
  if (names?.size === 0) throw invalid('workers', '[]', 'at least one name');
  const needed = resources === undefined ? null : new Map(Object.entries(resources));
  for (const [name, amount] of needed ?? [])
    if (typeof amount !== 'number' || !(amount > 0))
      throw invalid(`resources.${name}`, amount, 'a number above 0');
  return { policy: { priority, retries, workers: names, resources: needed }, timeout };
}
