// Shapes of results, which DASF's plugin records.
import { isFunction } from '../../graph/callable.js';
import { MAX_DIMENSIONS } from '../../protocol/completionLog.js';

const NO_SHAPE: readonly number[] = [];
/** Number of arrays in a result that are compared. In a larger result, only the outer length is known. */
const MAX_ARRAYS = 10_000;

/**
 * Returns the lengths of the dimensions of a result; empty for a value without dimensions, or with more than
 * MAX_DIMENSIONS.
 *
 * - Typed arrays have one dimension.
 * - Arrays whose parts all have the same shape have one dimension more than their parts; other arrays have one.
 * - Other objects have the dimensions in their property `shape`, a list of whole numbers, as in libraries of arrays.
 */
export function shapeOf(value: unknown): readonly number[] {
  if (Array.isArray(value)) return arrayShape(value, { arrays: 0 }, 1);
  if (typeof value !== 'object' || value === null) return NO_SHAPE;
  if (ArrayBuffer.isView(value)) return viewShape(value);
  return ownShape(value);
}

interface Budget {
  arrays: number;
}

function arrayShape(array: readonly unknown[], budget: Budget, depth: number): readonly number[] {
  const outer = [array.length];
  const inner = partShape(array[0], budget, depth);
  if (inner.length === 0) return outer;
  for (const part of array) if (!isSame(partShape(part, budget, depth), inner)) return outer;
  return [array.length, ...inner];
}

function partShape(part: unknown, budget: Budget, depth: number): readonly number[] {
  if (depth >= MAX_DIMENSIONS || budget.arrays >= MAX_ARRAYS) return NO_SHAPE;
  budget.arrays++;
  if (Array.isArray(part)) return arrayShape(part, budget, depth + 1);
  return ArrayBuffer.isView(part) ? viewShape(part) : NO_SHAPE;
}

function isSame(one: readonly number[], other: readonly number[]): boolean {
  return one.length === other.length && one.every((length, i) => length === other[i]);
}

/** Returns the length of a typed array. A DataView has none. */
function viewShape(view: ArrayBufferView): readonly number[] {
  return 'length' in view && typeof view.length === 'number' ? [view.length] : NO_SHAPE;
}

function ownShape(value: object): readonly number[] {
  try {
    const shape: unknown = Reflect.get(value, 'shape');
    if (typeof shape !== 'object' || shape === null || !isIterable(shape)) return NO_SHAPE;
    const lengths: number[] = [];
    for (const length of shape) {
      if (typeof length !== 'number' || !Number.isSafeInteger(length) || length < 0) return NO_SHAPE;
      if (lengths.push(length) > MAX_DIMENSIONS) return NO_SHAPE;
    }
    return lengths;
  } catch {
    return NO_SHAPE;
  }
}

function isIterable(value: object): value is Iterable<unknown> {
  return isFunction(Reflect.get(value, Symbol.iterator));
}
