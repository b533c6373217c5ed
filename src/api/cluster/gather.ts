// gather: the results of futures that stand in (nested) arrays and plain objects, in the same shape.
import type { ResultHandle } from '../../engine/cluster/computationState.js';
import { checkNesting, isPlainObject } from '../../graph/nesting.js';
import { Future } from './future.js';

/** What `gather` returns for a `T`: the result in the place of each future. */
export type Gathered<T> =
  T extends Future<infer R>
    ? R
    : T extends readonly unknown[]
      ? { -readonly [K in keyof T]: Gathered<T[K]> }
      : T extends Readonly<Record<string, unknown>>
        ? { -readonly [K in keyof T]: Gathered<T[K]> }
        : T;

export interface GatherOptions {
  /** What becomes of a future that has no result: its error is thrown, or (`'skip'`) its place is undefined. Default `'raise'`. */
  readonly errors?: 'raise' | 'skip';
}

/** Brings all results at once. Throws the error of the first future that failed, unless `errors` is `'skip'`. */
export async function gatherNested(
  value: unknown,
  errors: 'raise' | 'skip',
  fetch: (handles: readonly ResultHandle[]) => Promise<unknown[]>,
): Promise<unknown> {
  const futures = new Set<Future<unknown>>();
  collect(value, futures, 0);
  const present: { readonly future: Future<unknown>; readonly handle: ResultHandle }[] = [];
  for (const future of futures) {
    if (errors === 'skip' && !(await hasResult(future))) continue;
    present.push({ future, handle: future.live() });
  }
  const values = await fetch(present.map(({ handle }) => handle));
  const results = new Map(present.map(({ future }, index) => [future, values[index]]));
  return replace(value, results);
}

async function hasResult(future: Future<unknown>): Promise<boolean> {
  if (future.status === 'cancelled') return false;
  return (await future.exception()) === undefined;
}

function collect(value: unknown, futures: Set<Future<unknown>>, depth: number): void {
  if (typeof value !== 'object' || value === null) return;
  checkNesting(depth);
  if (value instanceof Future) futures.add(value);
  else if (Array.isArray(value)) for (const part of value) collect(part, futures, depth + 1);
  else if (isPlainObject(value)) for (const part of Object.values(value)) collect(part, futures, depth + 1);
}

function replace(value: unknown, results: ReadonlyMap<Future<unknown>, unknown>): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Future) return results.get(value);
  if (Array.isArray(value)) return value.map((part) => replace(part, results));
  if (!isPlainObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, replace(part, results)]));
}
