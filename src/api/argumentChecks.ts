// Checks of arguments of a client: one value or several, Delayed with options, iterables. See also base/arguments.ts.
import { invalid, isOptionsObject, textOf } from '../base/arguments.js';
import { invalidArgument, type LongpoleError } from '../base/errors.js';
import { Delayed } from '../graph/delayed.js';

/** Arguments of `compute` and `persist`. */
export interface DelayedArguments {
  readonly list: readonly Delayed<unknown>[];
  /** Whether the call has one Delayed that is not in an array. */
  readonly isSingle: boolean;
  /** The last argument if it is an object literal; its properties are not checked. */
  readonly options: object;
}

/**
 * Splits arguments into Delayed (one after the other, or in one array) and the options at the end.
 *
 * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT for anything else
 */
export function delayedArguments(name: string, args: readonly unknown[]): DelayedArguments {
  const last = args.at(-1);
  // A caller may pass its own options, which may be undefined. A single undefined is a missing Delayed.
  const hasOptions = args.length > 1 ? last === undefined || isOptionsObject(last) : isOptionsObject(last);
  const given = hasOptions ? args.slice(0, -1) : args;
  const [first] = given;
  const listed = given.length === 1 && Array.isArray(first);
  const list: readonly unknown[] = listed ? first : given;
  const isDelayed = (value: unknown): value is Delayed<unknown> => value instanceof Delayed;
  for (const value of list)
    if (!isDelayed(value)) throw invalid(name, value, 'Delayed, or one array of them, and options last');
  return {
    list: list.filter(isDelayed),
    isSingle: !listed && list.length === 1,
    options: hasOptions && isOptionsObject(last) ? last : {},
  };
}

/**
 * Yields the arguments of each call of `map`: one element of each iterable, up to the end of the shortest. The others may
 * be endless.
 *
 * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT for no iterables, or other values
 */
export function* argumentsOfCalls(iterables: readonly unknown[]): Generator<readonly unknown[]> {
  if (iterables.length === 0) throw notIterable('nothing');
  const iterators = iterables.map((one) => {
    if (isIterable(one)) return one[Symbol.iterator]();
    throw notIterable(textOf(one));
  });
  const open = new Set(iterators);
  try {
    for (;;) {
      const items: unknown[] = [];
      for (const iterator of iterators) {
        // An iterator that ends or throws has closed itself.
        open.delete(iterator);
        const { done, value } = iterator.next();
        if (done === true) return;
        open.add(iterator);
        items.push(value);
      }
      yield items;
    }
  } finally {
    for (const iterator of open) iterator.return?.();
  }
}

function notIterable(what: string): LongpoleError {
  return invalidArgument(`map() takes iterables after the function, not ${what}.`);
}

export function isIterable(value: unknown): value is Iterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.iterator in value;
}
