// `compute`: runs the union of the graphs of some Delayed objects.
import { CALLABLE, checkOptions, invalid, type OptionKinds, oneOf } from '../base/arguments.js';
import { invalidArgument, type LongpoleError } from '../base/errors.js';
import { SCHEDULERS } from '../base/settings.js';
import {
  activeCallbacks,
  callbackList,
  watchersForRun,
  watchersOf,
} from '../diagnostics/callbackObservers.js';
import { untilClosed } from '../engine/cluster/endedByClosing.js';
import { clusterAnnotation } from '../graph/annotatedStages.js';
import { compileDelayed } from '../graph/compile.js';
import type { ComputeOptions, SchedulerName } from '../graph/computeOptions.js';
import { type Delayed, graphOf, setComputeRunner } from '../graph/delayed.js';
import type { Keys } from '../protocol/graph.js';
import { epochSeconds } from '../resources/clock.js';
import { delayedArguments } from './argumentChecks.js';
import type { Client } from './cluster/client.js';
import { SUBMIT_OPTIONS } from './cluster/clientOptions.js';
import { connect } from './cluster/connect.js';
import { defaultClient } from './cluster/defaultClient.js';
import { taskClient } from './cluster/getClient.js';
import type { Computed } from './computed.js';
import { config } from './config.js';
import { planGraph } from './planGraph.js';
import { isImportedByWorker, LOCAL_OPTIONS, runPlanInline, runPlanOnPool } from './runPlan.js';

const COMPUTE_OPTIONS: OptionKinds<ComputeOptions> = {
  ...LOCAL_OPTIONS,
  ...SUBMIT_OPTIONS,
  scheduler: oneOf(SCHEDULERS),
  get: CALLABLE,
};

const CLUSTER_NAMES = ['retries', 'workers', 'resources', 'timeout'] as const;
const LOCAL_NAMES = ['numWorkers', 'concurrentTasks', 'allowedFailures'] as const;

/**
 * Computes several Delayed in one pass over the union of their graphs. Tasks with equal keys run once.
 *
 *     const [total, largest] = await compute(sum(parts), max(parts), { numWorkers: 4 });
 *     const totals = await compute(parts.map((part) => sum(part)));
 *
 * The default is the cluster of the running task, else the most recently connected client. Without either, the setting `scheduler` decides; its default is
 * worker threads, one per core.
 *
 * @returns (resolves) an array of the results in the order of the arguments. A single array of Delayed counts as its
 *   elements.
 * @throws (rejects) TaskError if a task throws, KilledWorkerError if a task repeatedly ends its worker,
 *   ERR_LONGPOLE_INVALID_ARGUMENT if the options contradict each other, and the errors of `getThreaded`
 * @source Dask, `dask.compute`
 */
export function compute<const D extends readonly Delayed<unknown>[]>(
  delayeds: D,
  options?: ComputeOptions,
): Promise<Computed<D>>;
export function compute<const D extends readonly Delayed<unknown>[]>(...delayeds: D): Promise<Computed<D>>;
export function compute<const D extends readonly Delayed<unknown>[]>(
  ...args: [...delayeds: D, options: ComputeOptions]
): Promise<Computed<D>>;
export function compute(...args: readonly unknown[]): Promise<unknown[]> {
  return untilClosed(async () => {
    const { list, options } = delayedArguments('compute()', args);
    checkOptions('compute()', options, COMPUTE_OPTIONS);
    return computeAll(list, options);
  });
}

async function computeAll(
  delayeds: readonly Delayed<unknown>[],
  options: ComputeOptions,
): Promise<unknown[]> {
  if (isImportedByWorker()) return new Promise(() => undefined);
  if (options.get !== undefined) {
    const keys = delayeds.map(({ key }) => key);
    const results = await runByGet(delayeds, keys, options);
    if (!Array.isArray(results))
      throw invalid('compute(): the return value of get', results, 'an array for an array of keys');
    return results;
  }
  const scheduler = schedulerOf(options, delayeds);
  if (scheduler === 'cluster') {
    const { signal, priority, retries, workers, resources, timeout } = options;
    const forTasks = { signal, priority, retries, workers, resources, timeout };
    const inTask = taskClient();
    if (inTask !== undefined) return inTask.compute(delayeds, forTasks);
    const watchers = watchersForRun(options.callbacks);
    return (defaultClient() ?? (await ownClient())).computeWatched(delayeds, forTasks, watchers);
  }
  const called = epochSeconds();
  const plan = compileDelayed(delayeds, {
    shared: scheduler === 'threads',
    byReference: scheduler === 'sync',
    priority: options.priority ?? 0,
  });
  const graph = planGraph(plan);
  const results =
    scheduler === 'sync'
      ? runPlanInline(graph, plan, options, called)
      : await runPlanOnPool(scheduler, graph, plan, options, called);
  return delayeds.map(({ key }) => results[plan.ids.get(key) ?? -1]);
}

function schedulerOf(options: ComputeOptions, delayeds: readonly Delayed<unknown>[]): SchedulerName {
  const { scheduler } = options;
  const forCluster = CLUSTER_NAMES.find((name) => options[name] !== undefined) ?? annotated(delayeds);
  const forLocal = localOption(options);
  if (forCluster !== undefined && (forLocal !== undefined || (scheduler ?? 'cluster') !== 'cluster'))
    throw conflict(forCluster, 'a cluster', 'a local scheduler');
  if (scheduler === 'cluster' && forLocal !== undefined)
    throw conflict(forLocal, 'a local scheduler', 'a cluster');
  if (scheduler !== undefined) return scheduler;
  if (forCluster !== undefined) return 'cluster';
  // Active callbacks that do more than watch support runs in this process only.
  const needsLocal = forLocal !== undefined || watchersOf(activeCallbacks()) === undefined;
  // Inside a task there is no program that would watch the run.
  if (taskClient() !== undefined && !needsLocal && watchersForRun(options.callbacks).length === 0)
    return 'cluster';
  if (defaultClient() !== undefined && !needsLocal) return 'cluster';
  const setting = config.get('scheduler');
  if (setting !== undefined && (setting !== 'cluster' || !needsLocal)) return setting;
  return config.get('processes') ? 'processes' : 'threads';
}

/** Returns an option of a block around the definition of a task that only clusters support, if any. */
function annotated(delayeds: readonly Delayed<unknown>[]): string | undefined {
  const name = clusterAnnotation(delayeds);
  return name === undefined ? undefined : `annotate({ ${name} })`;
}

/**
 * Returns an option that only local schedulers support, if any. Callbacks that only watch are also supported by
 * clusters.
 */
function localOption(options: ComputeOptions): string | undefined {
  const { callbacks } = options;
  if (callbacks !== undefined && watchersOf(callbackList(callbacks)) === undefined) return 'callbacks';
  return LOCAL_NAMES.find((name) => options[name] !== undefined);
}

function conflict(option: string, owner: string, other: string): LongpoleError {
  return invalidArgument(
    `compute(): ${option} needs ${owner}, but other options need ${other}. Omit one of them.`,
  );
}

async function computeOne(delayed: Delayed<unknown>, options: ComputeOptions): Promise<unknown> {
  checkOptions('compute()', options, COMPUTE_OPTIONS);
  if (options.get !== undefined && !isImportedByWorker()) return runByGet([delayed], delayed.key, options);
  const [result] = await computeAll([delayed], options);
  return result;
}

/** Runs a graph with the scheduler `get`, which checks the remaining options. */
function runByGet(
  delayeds: readonly Delayed<unknown>[],
  keys: Keys,
  { get, ...options }: ComputeOptions,
): unknown {
  const forCluster = annotated(delayeds);
  if (forCluster !== undefined) throw conflict(forCluster, 'a cluster', 'the scheduler get');
  return get?.(graphOf(delayeds), keys, options);
}

setComputeRunner((delayed, options) => untilClosed(() => computeOne(delayed, options)));

// Cluster of `compute()` with the scheduler `cluster` if the program has no client. It starts at the first such call
// and ends with the program.

let own: Promise<Client> | undefined;

function ownClient(): Promise<Client> {
  own ??= startOwn();
  return own;
}

async function startOwn(): Promise<Client> {
  try {
    const client = await connect({}, { setAsDefault: false });
    // Later calls, e.g. in other listeners of beforeExit, start another cluster.
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
