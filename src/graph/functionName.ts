import { type AnyFunction, resolveFunction } from './callable.js';
import { taskDefinition } from './taskRegistry.js';

/** Longer names are cut, as Dask cuts them: a name is the prefix of every key made from it. */
const MAX_NAME = 50;

/**
 * The name of a function for people and for keys: the name under which tasks() knows it, else its own name, else
 * `lambda`. At most 50 characters.
 *
 * @source `funcname` of Dask
 */
export function functionName(fn: AnyFunction): string {
  const target = resolveFunction(fn);
  const name: unknown = taskDefinition(target)?.name ?? target.name;
  return typeof name === 'string' && name !== '' ? name.slice(0, MAX_NAME) : 'lambda';
}
