// Finds the tasks that did not run because a task failed on which they depend.
import { checkArgument, TRACE } from '../base/arguments.js';
import { countsOf, oncePer, pushTo, sumOf } from '../base/lookUps.js';
import { LOCAL_CLIENT } from '../protocol/clientNames.js';
import { TASK_CANCELLED, TASK_ERRED, TASK_LOST } from '../protocol/clusterObserver.js';
import { CANCELLED, DROPPED_CONTEXT, SKIPPED } from '../protocol/metrics.js';
import { type Trace, textOf } from '../trace/trace.js';
import { previousRuns } from './submissionTimes.js';

/**
 * Returns the rows of skipped tasks that a worker of a cluster had already, also of those that a retry ran later. They are recorded
 * as cancelled, because the worker is asked not to run them. Computed once per trace; cost: a walk over the tasks if some were
 * cancelled.
 */
export const skippedRows = oncePer(({ tasks, totals }: Trace): ReadonlySet<number> => {
  const skipped = new Set<number>();
  if (totals.states[TASK_CANCELLED] === 0) return skipped;
  const { length, id, state, dependencyIds, dependencyOffsets } = tasks;
  const failed = new Set<number>();
  const dependents = new Map<number, number[]>();
  // The loop also visits the tasks that it adds.
  const skipBehind = (tasks: Set<number>): void => {
    for (const one of tasks)
      for (const row of dependents.get(one) ?? []) {
        skipped.add(row);
        tasks.add(id[row]!);
      }
  };
  for (let row = 0; row < length; row++) {
    // If the last run of a task was lost, the task had ended too many workers.
    if (state[row] === TASK_ERRED || state[row] === TASK_LOST) failed.add(id[row]!);
    else if (failed.delete(id[row]!)) skipBehind(new Set([id[row]!]));
    if (state[row] !== TASK_CANCELLED) continue;
    for (let edge = dependencyOffsets[row]!; edge < dependencyOffsets[row + 1]!; edge++)
      pushTo(dependents, dependencyIds[edge]!, row);
  }
  skipBehind(failed);
  return skipped;
});

/** Returns the number of rows of tasks by prefix. */
export function countsByPrefix(
  { tasks, strings }: Trace,
  rows: Iterable<number>,
): ReadonlyMap<string, number> {
  return countsOf(Array.from(rows, (row) => textOf(strings, tasks.prefix[row])));
}

/** Numbers of tasks without a result that have not failed. */
export interface SkippedTasks {
  /** Tasks that did not run because another task failed, and whose runs count as cancelled. */
  readonly recorded: number;
  /** Rows of `trace.tasks` of these runs, and of those that a retry followed. */
  readonly rows: ReadonlySet<number>;
  /** Number of these rows by prefix. */
  readonly byPrefix: ReadonlyMap<string, number>;
  /** Such tasks without a run. */
  readonly others: number;
  /** Tasks without a run that were cancelled. */
  readonly cancelled: number;
}

/** Returns the number of tasks that did not run because a task failed, and of tasks that were cancelled before they had a worker. */
export function skippedTasks(trace: Trace): SkippedTasks {
  checkArgument('skippedTasks(): trace', trace, TRACE);
  return skippedOf(trace);
}

/** Computed once per trace; cost: a walk over the tasks if some of a local scheduler failed. */
const skippedOf = oncePer((trace: Trace): SkippedTasks => {
  const rows = skippedRows(trace);
  const others = droppedTasks(trace, SKIPPED) + skippedLocally(trace);
  return {
    recorded: rows.size - previousRuns(trace).filter((row) => rows.has(row)).length,
    rows,
    byPrefix: countsByPrefix(trace, rows),
    others,
    cancelled: droppedTasks(trace, CANCELLED),
  };
});

/** Returns how many tasks of clusters without a run will not run, for this reason. */
function droppedTasks({ totals }: Trace, why: string): number {
  return sumOf(totals.metrics, ({ context, activity, value }) =>
    context === DROPPED_CONTEXT && activity === why ? value : 0,
  );
}

/** Returns the number of tasks without a run in failed computations of local schedulers, which end at the first failure. */
function skippedLocally({ tasks, computations, evicted, totals }: Trace): number {
  let skipped = 0;
  if (evicted.tasks > 0 || totals.states[TASK_ERRED] === 0) return skipped;
  const local = computations.filter(({ client }) => client === LOCAL_CLIENT);
  if (local.length === 0) return skipped;
  const states = new Map(Array.from(tasks.id, (id, row) => [id, tasks.state[row]!]));
  for (const { firstId, size } of local) {
    const known = Array.from({ length: size }, (_, at) => states.get(firstId + at));
    if (known.includes(TASK_ERRED)) skipped += known.filter((state) => state === undefined).length;
  }
  return skipped;
}
