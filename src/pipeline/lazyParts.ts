// The Delayed that a value holds, and the same value with something else in their places. Arrays, plain objects, Maps and
// Sets are looked into, as in the arguments of a task.
import { Delayed } from '../graph/delayed.js';
import { checkNesting, forEachPart, isPlainObject } from '../graph/nesting.js';

/** Every Delayed in `value`, each once. */
export function lazyParts(value: unknown): Delayed<unknown>[] {
  const found = new Set<Delayed<unknown>>();
  const visit = (part: unknown, depth: number): void => {
    if (part instanceof Delayed) found.add(part);
    else if (typeof part === 'object' && part !== null) {
      checkNesting(depth);
      forEachPart(part, (inner) => visit(inner, depth + 1));
    }
  };
  visit(value, 0);
  return [...found];
}

/** `value` with `results` in the places of its Delayed; the same value if it has none. */
export function withResults(value: unknown, results: ReadonlyMap<Delayed<unknown>, unknown>): unknown {
  if (value instanceof Delayed) return results.get(value);
  if (typeof value !== 'object' || value === null || results.size === 0) return value;
  const change = (part: unknown): unknown => withResults(part, results);
  if (Array.isArray(value)) return value.map(change);
  if (value instanceof Set) return new Set(Array.from(value, change));
  if (value instanceof Map) return new Map(Array.from(value, ([key, part]) => [change(key), change(part)]));
  if (!isPlainObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, change(part)]));
}
