// Finds large ArrayBuffers that are values themselves, not only memory under a view. V8's serializer must know them
// before it starts, or it copies their bytes into its output.
import { SHARE_BYTES } from './shareBuffers.js';
import { MAX_DEPTH, MAX_PARTS } from './sharedWeight.js';

interface Limits {
  readonly depth: number;
  /** Containers with more parts are skipped. */
  readonly parts: number;
}

/** Limits of a search in every value: some 100 ns for a small one. */
export const SHALLOW: Limits = { depth: MAX_DEPTH, parts: MAX_PARTS };
export const THOROUGH: Limits = { depth: Number.POSITIVE_INFINITY, parts: Number.POSITIVE_INFINITY };

/** Returns ArrayBuffers of at least SHARE_BYTES in `value`. Getters are not called. */
export function bareBuffers(value: unknown, limits: Limits): ReadonlySet<ArrayBuffer> {
  const found = new Set<ArrayBuffer>();
  const pending: { value: object; depth: number }[] = [];
  const seen = new Set<object>();
  const visit = (part: unknown, depth: number): void => {
    if (typeof part !== 'object' || part === null || ArrayBuffer.isView(part)) return;
    if (part instanceof ArrayBuffer) {
      if (part.byteLength >= SHARE_BYTES) found.add(part);
    } else if (depth <= limits.depth && !seen.has(part)) {
      seen.add(part);
      pending.push({ value: part, depth });
    }
  };
  visit(value, 0);
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    forEachOwn(next.value, limits.parts, (part) => visit(part, next.depth + 1));
  }
  return found;
}

function forEachOwn(value: object, limit: number, visit: (part: unknown) => void): void {
  if (Array.isArray(value)) {
    if (value.length <= limit) for (const part of value) visit(part);
  } else if (value instanceof Map || value instanceof Set) {
    if (value.size > limit) return;
    for (const [key, part] of value.entries()) {
      visit(key);
      visit(part);
    }
  } else {
    const names = Object.keys(value);
    if (names.length > limit) return;
    for (const name of names) visit(Object.getOwnPropertyDescriptor(value, name)?.value);
  }
}
