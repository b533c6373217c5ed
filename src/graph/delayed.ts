// A Delayed is a task of a graph under construction: a key, a function and arguments, which may contain other
// Delayed. Nothing here runs a task. A chain may have a million links, so nothing recurses along dependencies.

import { internalError, invalidArgument, LongpoleError } from '../base/errors.js';
import { getOrMake } from '../base/lookUps.js';
import { INSPECT } from '../base/printed.js';
import { visibleName } from '../base/visibleText.js';
import type { Graph } from '../protocol/graph.js';
import type { AnyFunction } from './callable.js';
import type { ComputeOptions } from './computeOptions.js';
import { definedAnnotations, definedSpans } from './definedWith.js';
import { literal } from './literal.js';
import { checkNesting, holdsObjects, partsOf } from './nesting.js';

export type ComputeRunner = (delayed: Delayed<unknown>, options: ComputeOptions) => Promise<unknown>;

let runner: ComputeRunner | undefined;

/** Sets the function that runs graphs, because this folder may not import the engine. A later call replaces it. */
export function setComputeRunner(run: ComputeRunner): void {
  runner = run;
}

/** A task whose result has not been computed. `T` is the type of the result. */
export class Delayed<T> {
  readonly key: string;
  /** @internal The function that the task calls; never a TaskFunction. */
  readonly fn: AnyFunction;
  /** @internal Its arguments: values, Delayed, or arrays, plain objects, Maps and Sets that hold Delayed. */
  readonly args: readonly unknown[];

  /** @internal Created by calling a TaskFunction. */
  constructor(key: string, fn: AnyFunction, args: readonly unknown[]) {
    if (typeof key !== 'string')
      throw invalidArgument(
        'new Delayed() does not create a task. Call a function that delayed() or tasks() returned.',
      );
    this.key = key;
    this.fn = fn;
    this.args = args;
    definedSpans.remember(this);
    definedAnnotations.remember(this);
  }

  /**
   * Runs this task and its dependencies.
   *
   * @returns the result
   * @throws TaskError if a task throws (ERR_LONGPOLE_TASK), KilledWorkerError, and LongpoleError if the graph cannot
   * run: ERR_LONGPOLE_CYCLE, ERR_LONGPOLE_INVALID_GRAPH, ERR_LONGPOLE_FREE_VARIABLE, ERR_LONGPOLE_NOT_SHIPPABLE,
   * ERR_LONGPOLE_NOT_CLONEABLE, ERR_LONGPOLE_ABORTED
   */
  compute(options?: ComputeOptions): Promise<T>;
  compute(options: ComputeOptions = {}): Promise<unknown> {
    if (runner === undefined) {
      return Promise.reject(
        internalError(`compute() of '${this.key}' was called before an engine was set up.`),
      );
    }
    return runner(this, options);
  }

  toString(): string {
    return `Delayed('${visibleName(this.key)}')`;
  }

  [INSPECT](): string {
    return this.toString();
  }

  /** @internal A calculation with the object itself would give NaN. */
  [Symbol.toPrimitive](hint: string): string {
    if (hint !== 'number') return this.toString();
    throw invalidArgument(
      `${this} is not a number. Pass it to a task, or use its result: await delayed.compute().`,
    );
  }

  /** Returns the task in Dask's form, `[fn, …args]`. A Delayed in it, also in nested arrays, becomes its key. */
  toTask(): readonly unknown[] {
    return [this.fn, ...this.args.map((arg) => toArgument(arg, undefined))];
  }

  /**
   * Returns the graph of this task and its dependencies, as a Map from key to `[fn, …args]`. Dependencies come first.
   * Of equal keys, the first one is kept. A Delayed inside a plain object, a Map or a Set stays a Delayed, because
   * strings in these are never keys. A value that a graph would read as a key or a task becomes a `literal`.
   *
   * @throws LongpoleError ERR_LONGPOLE_CYCLE, or ERR_LONGPOLE_INVALID_GRAPH for an argument that contains itself
   */
  toGraph(): Graph {
    return graphOf([this]);
  }
}

/** Returns the union of the graphs of some Delayed, in the form of `Delayed.toGraph`. */
export function graphOf(roots: readonly Delayed<unknown>[]): Graph {
  const nodes = nodesOf(roots);
  const graph = new Map<string, readonly unknown[]>();
  for (const node of nodes.values()) {
    const task = [node.fn, ...node.args.map((arg) => toArgument(arg, nodes))];
    definedAnnotations.copy(node, task);
    graph.set(node.key, task);
  }
  return graph;
}

/** Returns key → node for the roots, in order, and their dependencies, dependencies first. */
export function nodesOf(roots: readonly Delayed<unknown>[]): ReadonlyMap<string, Delayed<unknown>> {
  const done = new Map<string, Delayed<unknown>>();
  /** Key → index on the stack at which its node waits for dependencies. */
  const open = new Map<string, number>();
  const stack = roots.toReversed();
  for (let node = stack.at(-1); node !== undefined; node = stack.at(-1)) {
    const position = open.get(node.key);
    if (position === undefined && !done.has(node.key)) {
      open.set(node.key, stack.length - 1);
      const dependencies = dependenciesOf(node);
      for (let index = dependencies.length - 1; index >= 0; index--) stack.push(dependencies[index]!);
      continue;
    }
    if (position === stack.length - 1) {
      open.delete(node.key);
      done.set(node.key, node);
    } else if (position !== undefined) {
      throw cycleError([...open.keys()], node.key);
    }
    stack.pop();
  }
  return done;
}

/** Returns the Delayed in the arguments of a task. A Delayed may occur several times. A shared container is searched once. */
export function dependenciesOf(node: Delayed<unknown>): Delayed<unknown>[] {
  const dependencies: Delayed<unknown>[] = [];
  const seen = new Set<object>();
  for (const arg of node.args) findDelayed(arg, dependencies, seen);
  return dependencies;
}

function cycleError(open: readonly string[], key: string): LongpoleError {
  const cycle = open.slice(open.indexOf(key));
  return new LongpoleError(
    'ERR_LONGPOLE_CYCLE',
    `The key '${key}' needs itself: ${[...cycle, key].join(' → ')} (each needs the next). Give these tasks different keys.`,
  );
}

/** Adds every Delayed in `value` to `found`, but searches no container in `seen`, to which it adds those that it has searched. */
export function findDelayed(
  value: unknown,
  found: Delayed<unknown>[],
  seen = new Set<object>(),
  depth = 0,
): void {
  if (typeof value !== 'object' || value === null) return;
  if (value instanceof Delayed) {
    found.push(value);
    return;
  }
  if (seen.has(value)) return;
  checkNesting(depth);
  for (const part of partsOf(value)) findDelayed(part, found, seen, depth + 1);
  // One with scalars alone is searched faster than found here.
  if (holdsObjects(value)) seen.add(value);
}

/**
 * Returns an argument in graph form. `keys` are the keys of the graph; without them nothing becomes a literal. `made` has the
 * arrays that the argument may hold again.
 */
function toArgument(
  value: unknown,
  keys: ReadonlyMap<string, unknown> | undefined,
  depth = 0,
  made = new Map<object, unknown>(),
): unknown {
  if (value instanceof Delayed) return value.key;
  if (typeof value === 'string') return keys?.has(value) ? literal(value) : value;
  if (!Array.isArray(value)) return value;
  checkNesting(depth);
  return getOrMake(made, value, () => {
    const found: Delayed<unknown>[] = [];
    findDelayed(value, found);
    if (found.length === 0) return keys !== undefined && hasMeaning(value, keys) ? literal(value) : value;
    return value.map((part, index) =>
      keys !== undefined && index === 0 && typeof part === 'function'
        ? literal(part)
        : toArgument(part, keys, depth + 1, made),
    );
  });
}

/** Returns whether a graph would read an element of this array as a task or a key. */
function hasMeaning(
  value: readonly unknown[],
  keys: ReadonlyMap<string, unknown>,
  seen = new Set<object>(),
): boolean {
  if (seen.has(value)) return false;
  seen.add(value);
  if (typeof value[0] === 'function') return true;
  return value.some((part) =>
    Array.isArray(part) ? hasMeaning(part, keys, seen) : typeof part === 'string' && keys.has(part),
  );
}
