// Converts all forms of callbacks (Callback, object, tuple, pair) into RunObservers of the engine. Each observer serves
// one run, so that a callback may watch several runs at the same time.

import { CALLABLE, checkArgument } from '../base/arguments.js';
import { invalidArgument } from '../base/errors.js';
import { External } from '../graph/external.js';
import type { Graph } from '../protocol/graph.js';
import type { RunInfo, RunObserver, RunState, RunWatcher } from '../protocol/runObserver.js';
import {
  Callback,
  type CallbackHooks,
  type FinishHook,
  HOOKS,
  OBSERVERS,
  type PosttaskHook,
  type PretaskHook,
  ProgramCallback,
  type StartHook,
  type StartStateHook,
  WATCHERS,
} from './callback.js';
import { activateItem, activeItems } from './registry.js';

/** Dask's form of a callback: the five hooks in order, null for a missing hook. */
export type CallbackTuple = readonly [
  start: StartHook | null | undefined,
  startState: StartStateHook | null | undefined,
  pretask: PretaskHook | null | undefined,
  posttask: PosttaskHook | null | undefined,
  finish: FinishHook | null | undefined,
];

/**
 * The form of Dask's first diagnostics. `startCallback` is called when a task starts, `endCallback` when a task has
 * finished. At the end of the run, with or without an error, both are called once more with null as the key and the
 * worker id.
 *
 * @source Dask's first diagnostics
 */
export interface TwoCallbacks {
  startCallback?(key: string | null, dsk: Graph, state: RunState): void;
  endCallback?(key: string | null, dsk: Graph, state: RunState, id: string | null): void;
}

/** All forms of a callback. */
export type CallbackLike = Callback | CallbackHooks | CallbackTuple | TwoCallbacks;

const HOOK_NAMES = ['start', 'startState', 'pretask', 'posttask', 'finish'] as const;

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function isTuple(value: CallbackLike): value is CallbackTuple {
  return Array.isArray(value);
}

function isPair(value: CallbackLike): value is TwoCallbacks {
  return 'startCallback' in value || 'endCallback' in value;
}

function isCallback(value: unknown): value is CallbackLike {
  return (
    value instanceof Callback ||
    (Array.isArray(value)
      ? value.length === 5 &&
        value.every((hook) => hook === null || hook === undefined || typeof hook === 'function')
      : isObject(value) && (isPair(value) || HOOK_NAMES.some((name) => name in value)))
  );
}

function checkCallback(value: unknown): CallbackLike {
  if (isCallback(value)) return value;
  throw invalidArgument(
    'callbacks: expected a Callback, an object with some of start, startState, pretask, posttask and finish, an array of ' +
      'these five functions (null for the missing), or an object with startCallback and endCallback.',
  );
}

/**
 * Returns one callback or several as a checked list.
 *
 * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT if a value is not a callback
 */
export function callbackList(value: unknown): readonly CallbackLike[] {
  return (isList(value) ? value : [value]).map(checkCallback);
}

/** Distinguishes a list of callbacks from a single tuple, which holds functions and nulls. */
function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && (value.length !== 5 || value.every(isObject));
}

/**
 * Returns the callbacks for a run that starts now: the active ones in order of activation, then those of the option
 * `callbacks`, without duplicates.
 *
 * @param own value of the option `callbacks`
 * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT if a value of `own` is not a callback
 */
export function callbacksForRun(own: unknown = []): CallbackLike[] {
  return [...new Set<CallbackLike>([...activeCallbacks(), ...callbackList(own)])];
}

/** Returns the active callbacks in order of activation. */
export function activeCallbacks(): CallbackLike[] {
  return activeItems();
}

export function observersOf(callbacks: readonly CallbackLike[]): RunObserver[] {
  const observers: RunObserver[] = [];
  for (const callback of callbacks) {
    if (callback instanceof Callback) {
      observers.push(...callback[OBSERVERS](), ...hookObservers(callback[HOOKS]()));
    } else if (isTuple(callback)) {
      const hooks = callback.map((hook) => hook ?? undefined);
      observers.push(...hookObservers(Object.fromEntries(HOOK_NAMES.map((name, i) => [name, hooks[i]]))));
    } else if (isPair(callback)) {
      observers.push(pairObserver(callback));
    } else {
      observers.push(...hookObservers(new Callback(callback)[HOOKS]()));
    }
  }
  return observers;
}

/**
 * Returns the watchers of the callbacks for a computation on a cluster.
 *
 * @returns undefined if a callback has hooks or needs results, which only runs in this process have
 */
export function watchersOf(callbacks: readonly CallbackLike[]): RunWatcher[] | undefined {
  const watchers: RunWatcher[] = [];
  for (const callback of callbacks) {
    // An observer of the whole program also observes its clusters.
    if (callback instanceof ProgramCallback) continue;
    const own = callback instanceof Callback && hookObservers(callback[HOOKS]()).length === 0;
    const found = own ? callback[WATCHERS]() : undefined;
    if (found === undefined) return undefined;
    watchers.push(...found);
  }
  return watchers;
}

/**
 * Returns the watchers for a computation on a cluster of the active callbacks and `own` ones. Ignores callbacks with
 * hooks.
 */
export function watchersForRun(own?: unknown): RunWatcher[] {
  return callbacksForRun(own).flatMap((callback) => watchersOf([callback]) ?? []);
}

function hookObservers(hooks: CallbackHooks): RunObserver[] {
  const { start, startState, pretask, posttask, finish } = hooks;
  if (!start && !startState && !pretask && !posttask && !finish) return [];
  let started = false;
  const observer: RunObserver = {
    perTask: pretask !== undefined || posttask !== undefined,
    results: posttask !== undefined,
    runStarted(run) {
      start?.(run.graph);
      started = true;
    },
    runFinished(run, error) {
      if (started) finish?.(run.graph, run.state, error !== undefined);
    },
  };
  if (startState) observer.stateReady = (run) => startState(run.graph, run.state);
  if (pretask) observer.taskStarted = (id, run) => pretask(run.computation.keys[id]!, run.graph, run.state);
  if (posttask) {
    observer.taskFinished = (id, value, worker, _startTime, _stopTime, run) =>
      posttask(run.computation.keys[id]!, value, run.graph, run.state, workerName(run, worker));
  }
  return [observer];
}

function pairObserver(pair: TwoCallbacks): RunObserver {
  return {
    perTask: true,
    taskStarted: (id, run) => pair.startCallback?.(run.computation.keys[id]!, run.graph, run.state),
    taskFinished: (id, _value, worker, _startTime, _stopTime, run) =>
      pair.endCallback?.(run.computation.keys[id]!, run.graph, run.state, workerName(run, worker)),
    runFinished(run) {
      pair.startCallback?.(null, run.graph, run.state);
      pair.endCallback?.(null, run.graph, run.state, null);
    },
  };
}

function workerName(run: RunInfo, worker: number): string {
  return run.workers.get(worker)?.name ?? String(worker);
}

function activate(callback: CallbackLike): () => void {
  return callback instanceof Callback ? callback[Symbol.dispose] : activateItem(callback);
}

/** A future does not count, because `fn` returns it as a reference. */
function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  if (value instanceof External) return false;
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

/**
 * Runs `fn` while `callbacks` are active, activated in the given order. If `fn` returns a promise, the callbacks stay
 * active until the promise settles. Meanwhile they also receive runs that other code of this isolate starts. They are
 * deactivated in reverse order, even if `fn` throws.
 *
 *     await withCallbacks([new ProgressBar(), profiler], () => getThreaded(graph, 'x'));
 *
 * @returns the return value of `fn`
 * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT if a value of `callbacks` is not a callback; the errors of `fn`
 * @source Dask's `add_callbacks`
 */
export function withCallbacks<R>(
  callbacks: CallbackLike | readonly CallbackLike[],
  fn: () => Promise<R>,
): Promise<R>;
export function withCallbacks<R>(callbacks: CallbackLike | readonly CallbackLike[], fn: () => R): R;
export function withCallbacks(callbacks: CallbackLike | readonly CallbackLike[], fn: () => unknown): unknown {
  checkArgument('withCallbacks(callbacks, fn): fn', fn, CALLABLE);
  const deactivators: (() => void)[] = [];
  const leave = (): void => {
    for (const deactivate of deactivators.splice(0).reverse()) deactivate();
  };
  let result: unknown;
  try {
    for (const callback of callbackList(callbacks)) deactivators.push(activate(callback));
    result = fn();
  } catch (error) {
    leave();
    throw error;
  }
  if (isPromiseLike(result)) return Promise.resolve(result).finally(leave);
  leave();
  return result;
}
