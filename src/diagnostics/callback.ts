// Dask's callbacks: five hooks around a run. callbackObservers.ts turns the overridden hooks into a RunObserver of the
// engine. Hooks that are not overridden cost nothing.
import { checkOptions, kind, type OptionKinds } from '../base/arguments.js';
import type { Graph } from '../protocol/graph.js';
import type { RunObserver, RunState, RunWatcher } from '../protocol/runObserver.js';
import { activateItem, registerItem, unregisterItem } from './registry.js';

export type StartHook = (dsk: Graph) => void;
export type StartStateHook = (dsk: Graph, state: RunState) => void;
export type PretaskHook = (key: string, dsk: Graph, state: RunState) => void;
export type PosttaskHook = (
  key: string,
  result: unknown,
  dsk: Graph,
  state: RunState,
  workerId: string,
) => void;
export type FinishHook = (dsk: Graph, state: RunState, errored: boolean) => void;

/** The five hooks as functions, each optional. */
export interface CallbackHooks {
  /** Called at the start of a run, before the state exists. */
  readonly start?: StartHook | undefined;
  /** Called when the state is initialised, before the first task. */
  readonly startState?: StartStateHook | undefined;
  /** Called when a task starts. */
  readonly pretask?: PretaskHook | undefined;
  /** Called when a task has finished. With this hook, every result is sent to the caller's thread. */
  readonly posttask?: PosttaskHook | undefined;
  /** Called at the end of a run, before the results are returned. `errored` is whether the run ended with an error. */
  readonly finish?: FinishHook | undefined;
}

/** Null stands for a missing hook, as in Dask's tuples. */
const HOOK = kind('a function', (value) => value === null || typeof value === 'function');
const HOOK_KINDS: OptionKinds<CallbackHooks> = {
  start: HOOK,
  startState: HOOK,
  pretask: HOOK,
  posttask: HOOK,
  finish: HOOK,
};

/** Method that returns the observers of a run. A symbol cannot collide with a method of a subclass. */
export const OBSERVERS: unique symbol = Symbol('longpole.observers');
/** Method that returns the watchers of a computation on a cluster. */
export const WATCHERS: unique symbol = Symbol('longpole.watchers');
/** Methods called when the first block with the callback begins, and when the last one ends. */
export const ENTERED: unique symbol = Symbol('longpole.entered');
export const LEFT: unique symbol = Symbol('longpole.left');
/** Method that returns the overridden hooks. */
export const HOOKS: unique symbol = Symbol('longpole.hooks');

/**
 * Watches runs through five hooks. Subclass it and override `_start`, `_startState`, `_pretask`, `_posttask`, `_finish`
 * (or the same names without the underscore), or pass functions:
 *
 *     class PrintKeys extends Callback {
 *       override _pretask(key: string) { console.log(`Computing: '${key}'!`); }
 *     }
 *     { using cb = new PrintKeys(); getSync(graph, 'c'); }
 *     { using cb = new Callback({ pretask: (key) => console.log(key) }); getSync(graph, 'c'); }
 *     getSync(graph, 'c', { callbacks: [new PrintKeys()] });
 *
 * A callback is active between `register()` and `unregister()`, in a block that declares it with `using`, and in
 * `withCallbacks`. A callback that is active several times is called once. A run calls the callbacks that are active
 * when it starts. An error of a hook ends the run with this error. `finish` is called if `start` has returned.
 *
 * @source Dask's `dask.callbacks.Callback`
 */
export class Callback {
  #blocks = 0;

  /** @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT if a hook is not a function, or for an unknown hook */
  constructor(hooks: CallbackHooks = {}) {
    checkOptions('Callback', hooks, HOOK_KINDS);
    const { start, startState, pretask, posttask, finish } = hooks;
    if (start) this._start = start;
    if (startState) this._startState = startState;
    if (pretask) this._pretask = pretask;
    if (posttask) this._posttask = posttask;
    if (finish) this._finish = finish;
  }

  protected _start(_dsk: Graph): void {}
  protected _startState(_dsk: Graph, _state: RunState): void {}
  protected _pretask(_key: string, _dsk: Graph, _state: RunState): void {}
  protected _posttask(
    _key: string,
    _result: unknown,
    _dsk: Graph,
    _state: RunState,
    _workerId: string,
  ): void {}
  protected _finish(_dsk: Graph, _state: RunState, _errored: boolean): void {}

  /** Called at the start of a run, before the state exists. */
  start(dsk: Graph): void {
    this._start(dsk);
  }

  /** Called when the state is initialised, before the first task. */
  startState(dsk: Graph, state: RunState): void {
    this._startState(dsk, state);
  }

  /** Called when a task has started. */
  pretask(key: string, dsk: Graph, state: RunState): void {
    this._pretask(key, dsk, state);
  }

  /** Called when a task has finished. `workerId` is the name of its worker, e.g. `threads-0`. */
  posttask(key: string, result: unknown, dsk: Graph, state: RunState, workerId: string): void {
    this._posttask(key, result, dsk, state, workerId);
  }

  /** Called at the end of a run. `errored` is whether the run ended with an error. */
  finish(dsk: Graph, state: RunState, errored: boolean): void {
    this._finish(dsk, state, errored);
  }

  /** Activates this callback for every run until `unregister`. A second call has no effect. */
  register(): void {
    registerItem(this);
  }

  /** Reverts `register`. Has no effect if the callback is not registered (Dask raises KeyError). */
  unregister(): void {
    unregisterItem(this);
  }

  /**
   * Activates this callback when read, and returns a function that deactivates it. `using` reads the property at the
   * declaration and calls the function at the end of the block; `const` does not. See
   * docs/decisions/using-activates.md.
   */
  get [Symbol.dispose](): () => void {
    // If this call throws, the callback must not be active.
    if (this.#blocks === 0) this[ENTERED]();
    this.#blocks++;
    const deactivate = activateItem(this);
    let active = true;
    return () => {
      if (!active) return;
      active = false;
      deactivate();
      this.#blocks--;
      if (this.#blocks === 0) this[LEFT]();
    };
  }

  [ENTERED](): void {}
  [LEFT](): void {}

  /** Returns observers of one run, in addition to the hooks. */
  [OBSERVERS](): RunObserver[] {
    return [];
  }

  /** Returns watchers of a computation on a cluster; undefined if the callback needs a run in this process. */
  [WATCHERS](): RunWatcher[] | undefined {
    return undefined;
  }

  [HOOKS](): CallbackHooks {
    const base = Callback.prototype;
    const isOwn = (name: keyof CallbackHooks): boolean =>
      this[name] !== base[name] || Reflect.get(this, `_${name}`) !== Reflect.get(base, `_${name}`);
    return {
      start: isOwn('start') ? (dsk) => this.start(dsk) : undefined,
      startState: isOwn('startState') ? (dsk, state) => this.startState(dsk, state) : undefined,
      pretask: isOwn('pretask') ? (key, dsk, state) => this.pretask(key, dsk, state) : undefined,
      posttask: isOwn('posttask') ? (...args) => this.posttask(...args) : undefined,
      finish: isOwn('finish') ? (dsk, state, errored) => this.finish(dsk, state, errored) : undefined,
    };
  }
}

/** A callback that observes clusters by other means. It does not make `compute()` run on a local scheduler. */
export class ProgramCallback extends Callback {}
