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

/** Whether a container directly holds objects, e.g. other containers. */
export function holdsObjects(value: object): boolean {
  for (const part of partsOf(value)) if (typeof part === 'object' && part !== null) return true;
  return false;
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
 * Containers that hold no task, as data or in graph form (`refs`), where strings may be keys. A walk enters each once:
 * n containers that each hold the next one twice have 2^n parts.
 */
export class PlainContainers {
  readonly #found = [new Set<object>(), new Set<object>()] as const;

  has(value: object, refs: boolean): boolean {
    return this.#found[refs ? 1 : 0].has(value);
  }

  /** Adds a container that holds objects: walking one with scalars alone costs less than finding it here. */
  add(value: object, refs: boolean): void {
    if (holdsObjects(value)) this.#found[refs ? 1 : 0].add(value);
  }

  clear(): void {
    for (const found of this.#found) if (found.size > 0) found.clear();
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
