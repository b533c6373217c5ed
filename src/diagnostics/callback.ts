// Dask's callbacks: five hooks around a run. A Callback says what it wants to see by which hooks it overrides; observers.ts
// turns that into the engine's RunObserver, so that a hook that nobody wrote costs nothing.
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
  /** At the beginning, before the state exists. */
  readonly start?: StartHook | undefined;
  /** At the beginning, after the state is initialised and before the first task. */
  readonly startState?: StartStateHook | undefined;
  /** When a task starts. */
  readonly pretask?: PretaskHook | undefined;
  /** When a task has finished. Asking for it brings every result to the caller's thread. */
  readonly posttask?: PosttaskHook | undefined;
  /** At the end, before the results are returned; `errored` tells whether the run ended by an error. */
  readonly finish?: FinishHook | undefined;
}

/** Null as in Dask's tuples: no such hook. */
const HOOK = kind('a function', (value) => value === null || typeof value === 'function');
const HOOK_KINDS: OptionKinds<CallbackHooks> = {
  start: HOOK,
  startState: HOOK,
  pretask: HOOK,
  posttask: HOOK,
  finish: HOOK,
};

/** What a callback watches a run with. A symbol, so that no subclass meets it by accident. */
export const OBSERVERS: unique symbol = Symbol('longpole.observers');
/** What a callback watches a computation of a cluster with, if it can. */
export const WATCHERS: unique symbol = Symbol('longpole.watchers');
/** Called when the first of the blocks that hold a callback begins, and when the last of them ends. */
export const ENTERED: unique symbol = Symbol('longpole.entered');
export const LEFT: unique symbol = Symbol('longpole.left');
/** The overridden hooks, bound. */
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
 * A callback is active between `register()` and `unregister()`, inside a block that holds it with `using`, and inside
 * `withCallbacks`; several of these at once still call it once. Which callbacks see a run is settled when the run
 * starts. What a hook throws ends the run with that error. `finish` runs for every callback whose `start` returned.
 *
 * @source Dask's `dask.callbacks.Callback`
 */
export class Callback {
  #blocks = 0;

  /** @throws ERR_LONGPOLE_INVALID_ARGUMENT if a hook is not a function */
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

  /** Beginning of a run, before the state exists. */
  start(dsk: Graph): void {
    this._start(dsk);
  }

  /** Beginning of a run, once the state is initialised. */
  startState(dsk: Graph, state: RunState): void {
    this._startState(dsk, state);
  }

  /** A task has started. */
  pretask(key: string, dsk: Graph, state: RunState): void {
    this._pretask(key, dsk, state);
  }

  /** A task has finished; `workerId` is the name of the worker that ran it, e.g. `threads-0`. */
  posttask(key: string, result: unknown, dsk: Graph, state: RunState, workerId: string): void {
    this._posttask(key, result, dsk, state, workerId);
  }

  /** End of a run. */
  finish(dsk: Graph, state: RunState, errored: boolean): void {
    this._finish(dsk, state, errored);
  }

  /** Makes this callback active for every run until `unregister`. Registering twice is registering once. */
  register(): void {
    registerItem(this);
  }

  /** Ends `register`. Does nothing if it is not registered (Dask raises KeyError there). */
  unregister(): void {
    unregisterItem(this);
  }

  /**
   * Active for the block that declares it: `using` reads this property where the callback is declared, which activates
   * it, and calls the function read when the block ends. A getter is what tells a `using` from a plain `const`; see
   * docs/decisions/using-activates.md.
   */
  get [Symbol.dispose](): () => void {
    // May throw: then nothing is active.
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

  /** What watches one run: nothing by itself. Diagnostics that record put their own observer here. */
  [OBSERVERS](): RunObserver[] {
    return [];
  }

  /** What watches a computation of a cluster; undefined: the callback needs a run in this process. */
  [WATCHERS](): RunWatcher[] | undefined {
    return undefined;
  }

  [HOOKS](): CallbackHooks {
    const base = Callback.prototype;
    const pick = <H>(overridden: boolean, hook: H): H | undefined => (overridden ? hook : undefined);
    return {
      start: pick(this.start !== base.start || this._start !== base._start, (dsk) => this.start(dsk)),
      startState: pick(
        this.startState !== base.startState || this._startState !== base._startState,
        (dsk, state) => this.startState(dsk, state),
      ),
      pretask: pick(this.pretask !== base.pretask || this._pretask !== base._pretask, (key, dsk, state) =>
        this.pretask(key, dsk, state),
      ),
      posttask: pick(
        this.posttask !== base.posttask || this._posttask !== base._posttask,
        (key, result, dsk, state, workerId) => this.posttask(key, result, dsk, state, workerId),
      ),
      finish: pick(this.finish !== base.finish || this._finish !== base._finish, (dsk, state, errored) =>
        this.finish(dsk, state, errored),
      ),
    };
  }
}

/** A callback that watches whatever a program computes, on clusters, too: for it a run need not be on a local scheduler. */
export class ProgramCallback extends Callback {}
