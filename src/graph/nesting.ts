// Arguments nest: arrays, plain objects, Map and Set may hold what stands for another task. Everything that walks an
// argument shares these rules. Recursion follows nesting, whose depth is bounded; a deeper value is a cyclic one.
import { LongpoleError } from '../base/errors.js';

/** Arguments nested deeper than this are taken for a cyclic object. */
export const MAX_NESTING = 1000;

/** An object literal, or an object without a prototype. Other objects are data as a whole. */
export function isPlainObject(value: object): value is Record<string, unknown> {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Calls `visit` for every value that a container holds directly; for a Map keys and values. */
export function forEachPart(value: object, visit: (part: unknown) => void): void {
  if (Array.isArray(value) || value instanceof Set) {
    for (const part of value) visit(part);
  } else if (value instanceof Map) {
    for (const [key, part] of value) {
      visit(key);
      visit(part);
    }
  } else if (isPlainObject(value)) {
    for (const key of Object.keys(value)) visit(value[key]);
  }
}

/** @throws LongpoleError ERR_LONGPOLE_INVALID_GRAPH if `depth` is beyond what an argument may reach */
export function checkNesting(depth: number): void {
  if (depth <= MAX_NESTING) return;
  throw new LongpoleError(
    'ERR_LONGPOLE_INVALID_GRAPH',
    `An argument is nested deeper than ${MAX_NESTING} levels, or it contains itself. Pass it flat, or make it a task of its own.`,
  );
}
