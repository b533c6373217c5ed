// Runs failed tasks again on request of a client. The plan is made first and changes nothing, because a client may
// only retry a task whose lineage is still complete.
import { dependenciesOf, dependentsOf } from '../../protocol/program.js';
import { startOver } from './recovery.js';
import type { SchedulerState } from './schedulerState.js';
import { ERRED, FORGOTTEN } from './taskStates.js';

export interface RetryPlan {
  /** Tasks to run again, and imports of their results. */
  readonly ids: ReadonlySet<number>;
  /** Data of the lineage that no longer exists and cannot be computed again. */
  readonly gone: readonly number[];
}

/**
 * Plans to run failed tasks again. The plan contains the failed tasks that they depend on, and the released results that
 * these need. It also contains the failed tasks that depend on them, unless these depend on another failed task.
 *
 * @param failed requested tasks that have failed
 * @param mayRecover whether a client still wants a dependent that has failed
 * @source Dask, `Scheduler.stimulus_retry`
 */
export function planRetry(
  state: SchedulerState,
  failed: Iterable<number>,
  mayRecover: (id: number) => boolean,
): RetryPlan {
  const ids = new Set<number>();
  for (const id of failed) for (const needed of lineageOf(state, id, ids)) ids.add(needed);
  const roots = [...ids].filter((id) => state.failed.has(id));
  // Ascending, so that each task comes after the tasks that it depends on.
  for (const id of erredDependentsOf(state, roots)
    .filter(mayRecover)
    .sort((a, b) => a - b)) {
    const lineage = lineageOf(state, id, ids);
    if (lineage.some((one) => one !== id && (state.failed.has(one) || state.state[one] === ERRED))) continue;
    for (const needed of lineage) ids.add(needed);
  }
  const gone = [...ids].filter((id) => state.graph.segmentOf(id).data);
  return { ids, gone };
}

/** Puts the tasks of a plan back to the beginning. `rebuild` has to follow. */
export function restartTasks(state: SchedulerState, ids: Iterable<number>): void {
  for (const id of ids) {
    state.failed.delete(id);
    state.retried[id] = 0;
    state.deaths[id] = 0;
    startOver(state, id);
  }
}

/** Returns the task and the failed or released tasks that it needs, without those in `known`. */
function lineageOf(state: SchedulerState, first: number, known: ReadonlySet<number>): number[] {
  const { graph } = state;
  const found = new Set<number>();
  const stack = [first];
  for (let id = stack.pop(); id !== undefined; id = stack.pop()) {
    const at = state.state[id];
    if ((at !== ERRED && at !== FORGOTTEN) || known.has(id) || found.has(id)) continue;
    found.add(id);
    for (const dependency of dependenciesOf(graph, id)) stack.push(dependency);
    if (graph.isImport(id)) stack.push(graph.originOf(id));
  }
  return [...found];
}

/**
 * Returns the tasks in the state `erred` that depend on `roots`, directly or through failed tasks that the scheduler has
 * forgotten.
 */
function erredDependentsOf(state: SchedulerState, roots: readonly number[]): number[] {
  const { graph } = state;
  const seen = new Set<number>();
  const stack = [...roots];
  for (let id = stack.pop(); id !== undefined; id = stack.pop()) {
    const at = state.state[id];
    if ((at !== ERRED && at !== FORGOTTEN) || seen.has(id)) continue;
    seen.add(id);
    for (const dependent of dependentsOf(graph, id)) stack.push(dependent);
    for (const copy of graph.importersOf(id)) stack.push(copy);
  }
  return [...seen].filter((id) => state.state[id] === ERRED);
}
