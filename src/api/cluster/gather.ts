// Implements `Client.gather`: replaces futures in nested arrays, plain objects, Maps and Sets by their results.
import { invalid, type OptionKinds, oneOf } from '../../base/arguments.js';
import { isPromise } from '../../base/builtIns.js';
import { Delayed } from '../../graph/delayed.js';
import { checkNesting, partsOf, withParts } from '../../graph/nesting.js';
import { isIterable } from '../argumentChecks.js';
import { Future, type FutureHandle } from './future.js';

/** Return type of `gather` for a `T`: each future is replaced by its result, or by `Missing` if it has none. */
export type Gathered<T, Missing = never> =
  T extends Future<infer R>
    ? R | Missing
    : T extends Promise<infer P>
      ? Gathered<P, Missing>
      : T extends readonly unknown[]
        ? { -readonly [K in keyof T]: Gathered<T[K], Missing> }
        : T extends Readonly<Record<string, unknown>>
          ? { -readonly [K in keyof T]: Gathered<T[K], Missing> }
          : T;

export interface GatherOptions {
  /**
   * For a future without a result: `raise` throws its error, `skip` returns undefined in its place. Default `raise`.
   */
  readonly errors?: 'raise' | 'skip';
}

export const GATHER_OPTIONS: OptionKinds<GatherOptions> = { errors: oneOf(['raise', 'skip']) };

/** Fetches all results in one call. Throws the error of the first failed future, unless `errors` is `'skip'`. */
export async function gatherNested(
  given: unknown,
  errors: 'raise' | 'skip',
  fetch: (handles: readonly FutureHandle[]) => Promise<unknown[]>,
): Promise<unknown> {
  const value = checked(given);
  const found: Found = { futures: new Set(), promises: new Map() };
  await collect(value, found, 0);
  const present: { readonly future: Future<unknown>; readonly handle: FutureHandle }[] = [];
  for (const future of found.futures) {
    if (errors === 'skip' && !(await hasResult(future))) continue;
    present.push({ future, handle: future.usable() });
  }
  const values = await fetch(present.map(({ handle }) => handle));
  const results = new Map(present.map(({ future }, index) => [future, values[index]]));
  return replace(value, found.promises, results);
}

interface Found {
  readonly futures: Set<Future<unknown>>;
  /** Values of promises, e.g. those of `scatter`. */
  readonly promises: Map<Promise<unknown>, unknown>;
}

/** Reads an iterator into an array, because it can be read only once. */
function checked(value: unknown): unknown {
  if (typeof value !== 'object' || value === null)
    throw invalid('Client.gather: futures', value, 'a Future, or (nested) arrays or objects of them');
  return 'next' in value && isIterable(value) ? [...value] : value;
}

async function hasResult(future: Future<unknown>): Promise<boolean> {
  if (future.status === 'cancelled') return false;
  return (await future.exception()) === undefined;
}

async function collect(value: unknown, found: Found, depth: number): Promise<void> {
  if (typeof value !== 'object' || value === null) return;
  checkNesting(depth);
  if (value instanceof Future) {
    found.futures.add(value);
  } else if (value instanceof Delayed) {
    throw invalid(
      'Client.gather: futures',
      value,
      'futures; Client.compute and Client.persist take a Delayed',
    );
  } else if (isPromise(value)) {
    const settled: unknown = await value;
    found.promises.set(value, settled);
    await collect(settled, found, depth + 1);
  } else {
    // Most parts are plain data. Skipping them here saves an `await` each.
    const parts = [...partsOf(value)].filter((part) => typeof part === 'object' && part !== null);
    for (const part of parts)
      if (part instanceof Future) found.futures.add(part);
      else await collect(part, found, depth + 1);
  }
}

function replace(
  value: unknown,
  promises: ReadonlyMap<Promise<unknown>, unknown>,
  results: ReadonlyMap<Future<unknown>, unknown>,
): unknown {
  const inside = (part: unknown): unknown => replace(part, promises, results);
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Future) return results.get(value);
  if (isPromise(value)) return inside(promises.get(value));
  return withParts(value, inside);
}
