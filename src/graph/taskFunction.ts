// TaskFunctions, which tasks() and delayed() return. Calling one makes a Delayed instead of running its function.
import {
  checkOptions,
  FLAG,
  isOptionsObject,
  type OptionKinds,
  sameMeaning,
  TEXT,
} from '../base/arguments.js';
import { invalidArgument } from '../base/errors.js';
import { type AnyFunction, isFunction, resolveFunction, TASK_TARGET } from './callable.js';
import { Delayed } from './delayed.js';
import { functionName, nameFunction } from './functionName.js';
import { parameterCount } from './functionSource.js';
import type { Inputs } from './input.js';
import { tokenize } from './tokenize.js';
import { uniqueToken } from './uniqueToken.js';

/** Options for the keys of a TaskFunction's tasks. */
export interface TaskOptions {
  /** Prefix of the keys. Default: the function's name. */
  readonly name?: string;
  /**
   * True: the key depends on the function and the arguments, so that equal calls are one task. Default false: every
   * call is a new task.
   */
  readonly pure?: boolean;
  /** Complete key of the next tasks, instead of a name and a token. Tasks with equal keys count as the same task. */
  readonly key?: string;
}

const TASK_OPTIONS: OptionKinds<TaskOptions> = { key: TEXT, name: TEXT, pure: FLAG };

/**
 * A function whose calls are tasks. Calling it does not run the function; it returns a Delayed of the result. Each
 * argument may be the value, a Delayed of it, or (nested) arrays, plain objects, Maps and Sets that contain Delayed.
 */
export interface TaskFunction<F extends AnyFunction> {
  (...args: Inputs<Parameters<F>>): Delayed<Awaited<ReturnType<F>>>;
  /** The function itself. In a Dask graph, the TaskFunction represents it. */
  readonly fn: F;
  /** Returns the same function with other options for later calls: `add.withOptions({ key: 'total' })(a, b)`. */
  withOptions(options: TaskOptions): TaskFunction<F>;
}

/**
 * Makes tasks from a function that needs no module. Its source text is sent to the isolates, so it must not use
 * variables from outside itself, except the globals of every isolate. A function of tasks() is imported with its
 * module.
 *
 * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT if `fn` is not a function or an option has the wrong type
 * @source `dask.delayed`
 */
export function delayed<F extends AnyFunction>(
  fn: F | TaskFunction<F>,
  options?: TaskOptions,
): TaskFunction<F>;
export function delayed(fn: unknown, options: TaskOptions = {}): TaskFunction<AnyFunction> {
  if (!isFunction(fn)) {
    throw invalidArgument(
      `delayed() takes a function, not ${fn === null ? 'null' : typeof fn}. Pass values as arguments of the task.`,
    );
  }
  checkOptions('delayed()', options, TASK_OPTIONS);
  const target = resolveFunction(fn);
  if (options.name !== undefined) nameFunction(target, options.name);
  return makeTaskFunction(target, { name: functionName(fn), ...options });
}

/** Does the same as `delayed`, with a given prefix of the keys. */
export function makeTaskFunction<F extends AnyFunction>(
  fn: F,
  options: TaskOptions & { readonly name: string },
): TaskFunction<F> {
  const { key, name, pure } = options;
  const prefix = `${name}-`;
  const task = (...args: Inputs<Parameters<F>>): Delayed<Awaited<ReturnType<F>>> => {
    if (args.length > fn.length) checkSurplus(name, fn, args);
    return new Delayed(key ?? prefix + (pure ? tokenize(fn, ...args) : uniqueToken()), fn, args);
  };
  Object.defineProperty(task, 'name', { value: name, configurable: true });
  const withOptions = (changes: TaskOptions): TaskFunction<F> => {
    checkOptions('withOptions()', changes, TASK_OPTIONS);
    return makeTaskFunction(fn, { ...options, ...changes });
  };
  return Object.assign(task, { fn, withOptions, [TASK_TARGET]: fn });
}

/** Throws if a call has options as its last argument, as in Dask, and the function does not take that argument. */
function checkSurplus(name: string, fn: AnyFunction, args: readonly unknown[]): void {
  const last = args.at(-1);
  if (!isOptionsObject(last)) return;
  const known = Object.keys(TASK_OPTIONS);
  for (const given of Object.keys(last)) {
    const option = known.includes(given) ? given : sameMeaning(given, known)[0];
    if (option === undefined || (parameterCount(fn) ?? Number.POSITIVE_INFINITY) >= args.length) continue;
    throw invalidArgument(
      `${name}(): the function does not take argument ${args.length}, { ${given} }. Pass options before the arguments: ` +
        `${name}.withOptions({ ${option}: … })(…).`,
    );
  }
}
