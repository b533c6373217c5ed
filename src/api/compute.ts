// `compute`: runs the union of the graphs of some Delayed objects.
import { LongpoleError } from '../base/errors.js';
import { LazyMap } from '../base/lazyCollections.js';
import { SCHEDULERS } from '../base/settings.js';
import { ProgramCallback } from '../diagnostics/callback.js';
import { activeCallbacks } from '../diagnostics/callbackObservers.js';
import { untilClosed } from '../engine/cluster/endedByClosing.js';
import { compileDelayed, type Plan } from '../graph/compile.js';
import type { ClusterTaskOptions, ComputeOptions, SchedulerName } from '../graph/computeOptions.js';
import { Delayed, setComputeRunner } from '../graph/delayed.js';
import { isPlainObject } from '../graph/nesting.js';
import type { Graph } from '../protocol/graph.js';
import type { Client } from './cluster/client.js';
import { connect } from './cluster/connect.js';
import { defaultClient } from './cluster/defaultClient.js';
import { config } from './config.js';
import { isImportedByWorker, runPlanInline, runPlanOnPool } from './runPlan.js';

const CLUSTER_OPTIONS = [
  'priority',
  'retries',
  'workers',
  'resources',
  'timeout',
] as const satisfies readonly (keyof ClusterTaskOptions)[];

/** The results of some Delayed, in the same order. */
export type Computed<D extends readonly Delayed<unknown>[]> = {
  -readonly [I in keyof D]: D[I] extends Delayed<infer T> ? T : never;
};

/**
 * Computes several Delayed in one pass over the union of their graphs; equal keys run once. By default on the client that
 * was connected last; without one on worker threads, one per core, unless the setting `scheduler` says otherwise.
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
export function compute(...args: readonly unknown[]): Promise<unknown[]> {
  return untilClosed(computeArguments(args));
}

async function computeArguments(args: readonly unknown[]): Promise<unknown[]> {
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
  const scheduler = schedulerOf(options);
  if (scheduler === 'cluster') return (defaultClient() ?? (await ownClient())).compute(delayeds, options);
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

function schedulerOf(options: ComputeOptions): SchedulerName {
  const { scheduler } = options;
  const clusterOption = CLUSTER_OPTIONS.find((name) => options[name] !== undefined);
  if (clusterOption !== undefined && (asksForLocal(options) || isLocal(scheduler)))
    throw invalid(
      `${clusterOption}: only a cluster takes it, and other options ask for a local scheduler. Leave one of them out.`,
    );
  if (scheduler !== undefined) {
    if (SCHEDULERS.includes(scheduler)) return scheduler;
    throw invalid(`scheduler: expected one of ${SCHEDULERS.join(', ')}, not ${String(scheduler)}.`);
  }
  if (clusterOption !== undefined) return 'cluster';
  if (defaultClient() !== undefined && !asksForLocal(options)) return 'cluster';
  const setting = config.get('scheduler');
  if (setting !== undefined && (setting !== 'cluster' || !needsLocal(options))) return setting;
  return config.get('processes') ? 'processes' : 'threads';
}

function isLocal(scheduler: SchedulerName | undefined): boolean {
  return scheduler !== undefined && scheduler !== 'cluster' && SCHEDULERS.includes(scheduler);
}

/** Callbacks watch local schedulers, and only these take the other options. */
function asksForLocal({ callbacks, numWorkers, allowedFailures }: ComputeOptions): boolean {
  return callbacks !== undefined || numWorkers !== undefined || allowedFailures !== undefined;
}

function needsLocal(options: ComputeOptions): boolean {
  if (asksForLocal(options)) return true;
  return activeCallbacks().some((callback) => !(callback instanceof ProgramCallback));
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

async function computeOne(delayed: Delayed<unknown>, options: ComputeOptions): Promise<unknown> {
  const [result] = await computeAll([delayed], options);
  return result;
}

setComputeRunner((delayed, options) => untilClosed(computeOne(delayed, options)));

// The cluster that a program gets without connecting one: `compute()` with the scheduler `cluster` starts it when it is first
// needed, and it ends with the program.

let own: Promise<Client> | undefined;

function ownClient(): Promise<Client> {
  own ??= startOwn();
  return own;
}

async function startOwn(): Promise<Client> {
  try {
    const client = await connect({}, { setAsDefault: false });
    // The program has nothing left to do: what it still does there starts another one.
    process.once('beforeExit', () => {
      own = undefined;
      void client.close();
    });
    return client;
  } catch (error) {
    own = undefined;
    throw error;
  }
}
