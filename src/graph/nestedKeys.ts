// One key of a graph, or arrays of keys nested to any depth. A result has the shape of the request.
import { invalidArgument, type LongpoleError } from '../base/errors.js';
import type { Keys } from '../protocol/graph.js';

/**
 * Returns all keys.
 * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT for a value that is neither a string nor an array
 */
export function flattenKeys(keys: Keys): string[] {
  const flat: string[] = [];
  const visit = (value: unknown): void => {
    if (typeof value === 'string') flat.push(value);
    else if (Array.isArray(value)) for (const part of value) visit(part);
    else throw invalidKeys(value);
  };
  visit(keys);
  return flat;
}

/** Returns the values of the keys in the same shape. */
export function shapeLike(keys: Keys, value: (key: string) => unknown): unknown {
  return typeof keys === 'string' ? value(keys) : keys.map((part) => shapeLike(part, value));
}

function invalidKeys(value: unknown): LongpoleError {
  return invalidArgument(
    `keys: expected a key (a string) or nested arrays of keys, not ${String(value)} (${typeof value}).`,
  );
}
