// Implements python(): functions of Python packages as tasks, which run on the workers of a Dask cluster.
import { invalidArgument } from '../base/errors.js';
import type { AnyFunction } from './callable.js';
import { notDask, PYTHON_NAME } from './pythonName.js';
import { makeTaskFunction, type TaskFunction } from './taskFunction.js';

const IDENTIFIER = String.raw`[\p{ID_Start}_]\p{ID_Continue}*`;
const DOTTED = String.raw`${IDENTIFIER}(?:\.${IDENTIFIER})*`;
/** Returns an expression that V8 takes up to 0.5 ms to make at first, which each start of an isolate would pay for. */
const namePattern = (): RegExp => new RegExp(`^${DOTTED}:${DOTTED}$`, 'u');

/** Any function of Python. */
export type PythonFunction = (...args: unknown[]) => unknown;

/**
 * Makes tasks from a function of a Python module. They run as ordinary Python in the workers of a Dask cluster, beside
 * tasks in TypeScript. Tasks of one language may use results of tasks of the other. Typed arrays become numpy arrays, and a Uint8Array becomes
 * `bytes`. Numbers, strings, booleans, null, bigints, dates, arrays and plain objects become their counterparts. An
 * `arrowTable` becomes a `pyarrow.Table`. Results are converted in the same way.
 *
 *     const norm = python<(values: Float64Array) => number>('numpy.linalg:norm');
 *     await client.submit(norm, load('a.bin')).result();
 *
 * @param name `package.module:function`, or `package.module:Class.method`. Workers import the module
 * @returns a TaskFunction. Its tasks fail with ERR_LONGPOLE_PYTHON_IMPORT if a worker cannot import the function, with
 *   ERR_LONGPOLE_PYTHON_VALUE for other types of values, with ERR_LONGPOLE_NOT_DASK on a scheduler that is not Dask, and
 *   with ERR_LONGPOLE_TASK if the function raises; the stack of `cause` is then the traceback
 * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT if `name` has another form
 */
export function python<F extends AnyFunction = PythonFunction>(name: string): TaskFunction<F>;
export function python(name: unknown): TaskFunction<PythonFunction> {
  if (typeof name !== 'string' || !namePattern().test(name))
    throw invalidArgument(
      `python() takes the name of a function, such as 'package.module:function', not ${typeof name === 'string' ? `'${name}'` : typeof name}.`,
    );
  const fn = (): never => {
    throw notDask(name);
  };
  const short = name.slice(name.lastIndexOf(':') + 1);
  Object.defineProperty(fn, 'name', { value: short, configurable: true });
  Object.defineProperty(fn, PYTHON_NAME, { value: name });
  return makeTaskFunction<PythonFunction>(fn, { name: short });
}
