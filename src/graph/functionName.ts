import { type AnyFunction, resolveFunction } from './callable.js';
import { taskDefinition } from './taskRegistry.js';

/** Longest name. As in Dask, longer names are cut, because a name is the prefix of every key made from it. */
const MAX_NAME = 50;

/** Names of functions without their own name. */
const givenNames = new WeakMap<AnyFunction, string>();

/** Sets the name of a function that has no own name. Only the first call for a function has an effect. */
export function nameFunction(fn: AnyFunction, name: string): void {
  if (!givenNames.has(fn)) givenNames.set(fn, name);
}

/**
 * Returns the name of a function for people and for keys: its name in tasks(), else its own name, else the name given to
 * delayed(), else `lambda`. At most 50 characters.
 *
 * @source `funcname` of Dask
 */
export function functionName(fn: AnyFunction): string {
  const target = resolveFunction(fn);
  const own: unknown = taskDefinition(target)?.name ?? target.name;
  const name = own === '' ? givenNames.get(target) : own;
  return typeof name === 'string' && name !== '' ? name.slice(0, MAX_NAME) : 'lambda';
}
