// What is wrong with an argument, said in one way.
import { LongpoleError } from '../base/errors.js';
import { Delayed } from '../graph/delayed.js';

/** @param expected what it should have been, e.g. `a whole number from 1` */
export function invalid(name: string, value: unknown, expected: string): LongpoleError {
  return new LongpoleError(
    'ERR_LONGPOLE_INVALID_ARGUMENT',
    `${name}: expected ${expected}, not ${textOf(value)}.`,
  );
}

/** @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT unless it is a whole number from 1 */
export function checkCount(name: string, value: unknown): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1) return value;
  throw invalid(name, value, 'a whole number from 1');
}

/**
 * One of a kind, or an array of them, as an array.
 *
 * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT for anything else
 */
export function oneOrMany<T>(
  name: string,
  given: T | readonly T[],
  isOne: (value: unknown) => value is T,
  expected: string,
): readonly T[] {
  const list: readonly unknown[] = Array.isArray(given) ? given : [given];
  for (const value of list) if (!isOne(value)) throw invalid(name, value, `${expected}, or an array of them`);
  return list.filter(isOne);
}

/** What `compute` and `persist` take, as an array. */
export function delayedList(
  name: string,
  given: Delayed<unknown> | readonly Delayed<unknown>[],
): readonly Delayed<unknown>[] {
  return oneOrMany(name, given, (one): one is Delayed<unknown> => one instanceof Delayed, 'a Delayed');
}

/** The elements of an iterable that `map` was given. */
export function arrayOf(iterable: unknown): readonly unknown[] {
  if (isIterable(iterable)) return [...iterable];
  throw notIterable(String(iterable));
}

export function notIterable(what: string): LongpoleError {
  return new LongpoleError(
    'ERR_LONGPOLE_INVALID_ARGUMENT',
    `map() takes iterables after the function, not ${what}.`,
  );
}

function isIterable(value: unknown): value is Iterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.iterator in value;
}

function textOf(value: unknown): string {
  if (typeof value === 'function') return 'a function';
  return typeof value === 'object' && value !== null
    ? `an ${Array.isArray(value) ? 'array' : 'object'}`
    : String(value);
}
