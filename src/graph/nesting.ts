// Rules for nested arguments: arrays, plain objects, Maps and Sets may contain references to other tasks. Every walk
// over an argument uses these rules. Recursion follows nesting, whose depth is bounded; a deeper value counts as
// cyclic.
import { isMap, isPlainObject, isSet } from '../base/builtIns.js';
import { LongpoleError } from '../base/errors.js';

/** Deepest nesting of an argument. A deeper argument counts as cyclic. */
const MAX_NESTING = 1000;

/** Returns the values directly inside a container; for a Map, key, value, key, value, … */
export function partsOf(value: object): Iterable<unknown> {
  if (Array.isArray(value)) return value;
  if (isPlainObject(value)) return Object.values(value);
  if (isMap(value)) return [...value].flat();
  return isSet(value) ? value : [];
}

/** Returns a container with changed parts; for a Map, also with changed keys. Returns other data unchanged. */
export function withParts(value: object, change: (part: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map((part) => change(part));
  if (isSet(value)) return new Set(Array.from(value, (part) => change(part)));
  if (isMap(value)) return new Map(Array.from(value, ([key, part]) => [change(key), change(part)]));
  if (!isPlainObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, change(part)]));
}

/**
 * Containers that a walk has left, with a label. A container that occurs twice is walked once, because n containers that
 * each hold the next one twice have 2^n parts. Containers that are no part of another one in an argument are not recorded,
 * because they are rarely shared within one task.
 */
export class SeenParts {
  /** Container → label. Graph form (`refs`) and data have separate labels, because a string is a key in one only. */
  readonly #labels = [new Map<object, number>(), new Map<object, number>()] as const;

  labelOf(value: object, refs: boolean, depth: number): number | undefined {
    return depth > 1 ? this.#labels[refs ? 1 : 0].get(value) : undefined;
  }

  add(value: object, refs: boolean, depth: number, label: number): void {
    if (depth > 1) this.#labels[refs ? 1 : 0].set(value, label);
  }

  clear(): void {
    for (const labels of this.#labels) if (labels.size > 0) labels.clear();
  }
}

/**
 * Checks the depth of an argument.
 * @throws LongpoleError ERR_LONGPOLE_INVALID_GRAPH if `depth` exceeds the limit
 */
export function checkNesting(depth: number): void {
  if (depth <= MAX_NESTING) return;
  throw new LongpoleError(
    'ERR_LONGPOLE_INVALID_GRAPH',
    `An argument is nested deeper than ${MAX_NESTING} levels, or it contains itself. Flatten it, or make it a separate task.`,
  );
}
