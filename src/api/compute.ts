// `compute`: runs the union of the graphs of some Delayed objects.
import { LongpoleError } from '../base/errors.js';
import { LazyMap } from '../base/lazyCollections.js';
import { compileDelayed, type Plan } from '../graph/compile.js';
import type { ComputeOptions } from '../graph/computeOptions.js';
import { Delayed, setComputeRunner } from '../graph/delayed.js';
import { isPlainObject } from '../graph/nesting.js';
import type { Graph } from '../protocol/graph.js';
import { isImportedByWorker, runPlanInline, runPlanOnPool } from './runPlan.js';

/** The results of some Delayed, in the same order. */
export type Computed<D extends readonly Delayed<unknown>[]> = {
  -readonly [I in keyof D]: D[I] extends Delayed<infer T> ? T : never;
};

/**
 * Computes several Delayed in one pass over the union of their graphs; equal keys run once. By default on worker
 * threads, one per core.
 *
 *     const [total, largest] = await compute(sum(parts), max(parts), { numWorkers: 4 });
 *
 * @returns the results in the order of the arguments
 * @throws (rejects) TaskError if a task throws, KilledWorkerError, and the errors of `getThreaded`
 */
export function compute<const D extends readonly Delayed<unknown>[]>(...delayeds: D): Promise<Computed<D>>;
export function compute<const D extends readonly Delayed<unknown>[]>(
  ...args: [...delayeds: D, options: ComputeOptions]
): Promise<Computed<D>>;
export async function compute(...args: readonly unknown[]): Promise<unknown[]> {
  const given = args.at(-1) === undefined ? args.slice(0, -1) : args;
  const last = given.at(-1);
  const hasOptions =
    typeof last === 'object' && last !== null && !(last instanceof Delayed) && isPlainObject(last);
  const options: ComputeOptions = hasOptions ? last : {};
  const delayeds = (hasOptions ? given.slice(0, -1) : given).map(checkDelayed);
  return computeAll(delayeds, options);
}

async function computeAll(
  delayeds: readonly Delayed<unknown>[],
  options: ComputeOptions,
): Promise<unknown[]> {
  if (isImportedByWorker()) return new Promise(() => undefined);
  const scheduler = options.scheduler ?? 'threads';
  if (scheduler !== 'threads' && scheduler !== 'processes' && scheduler !== 'sync')
    throw invalid(`scheduler: expected 'threads', 'processes' or 'sync', not ${String(scheduler)}.`);
  const plan = compileDelayed(delayeds, {
    shared: scheduler === 'threads',
    byReference: scheduler === 'sync',
  });
  const graph = planGraph(plan);
  const results =
    scheduler === 'sync'
      ? runPlanInline(graph, plan, options)
      : await runPlanOnPool(scheduler, graph, plan, options);
  return delayeds.map(({ key }) => results[plan.ids.get(key) ?? -1]);
}

/** The graph as callbacks see it: a Map that is filled when somebody looks. */
function planGraph(plan: Plan): Graph {
  const { keys, sources, ids } = plan;
  return new LazyMap<string, unknown>({
    size: () => keys.length,
    has: (key) => ids.has(key),
    get: (key) => sources[ids.get(key) ?? -1],
    keys: () => keys,
  });
}

function checkDelayed(value: unknown): Delayed<unknown> {
  if (value instanceof Delayed) return value;
  throw invalid(
    `compute() takes Delayed objects and, last, options; not ${String(value)} (${typeof value}).`,
  );
}

function invalid(message: string): LongpoleError {
  return new LongpoleError('ERR_LONGPOLE_INVALID_ARGUMENT', message);
}

setComputeRunner(async (delayed, options) => {
  const [result] = await computeAll([delayed], options);
  return result;
});
