// How a function of JavaScript represents a function of Python, see pythonFunction.ts.
import { LongpoleError } from '../base/errors.js';
import type { AnyFunction } from './callable.js';

/**
 * The property that holds the name of a Python function. The symbol is registered, because a program may load two
 * copies of this package.
 */
export const PYTHON_NAME: unique symbol = Symbol.for('longpole.pythonName');

/** Returns the name of a Python function, `package.module:function`; undefined for a function of JavaScript. */
export function pythonName(fn: AnyFunction): string | undefined {
  const name = PYTHON_NAME in fn ? fn[PYTHON_NAME] : undefined;
  return typeof name === 'string' ? name : undefined;
}

/** Returns the error for a Python function on a scheduler that is not Dask. */
export function notDask(name: string): LongpoleError {
  return new LongpoleError(
    'ERR_LONGPOLE_NOT_DASK',
    `python('${name}') runs on the workers of a Dask cluster only: connect with connect('dask'), or with the address of a scheduler, and submit the task there.`,
  );
}
