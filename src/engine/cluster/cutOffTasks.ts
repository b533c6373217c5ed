// Reports the tasks that a close ends before they have ended by themselves. Otherwise a trace would not show them.
import { countsOf } from '../../base/lookUps.js';
import { countText } from '../../base/words.js';
import { prefixOf } from '../../protocol/clusterObserver.js';
import { ERRED, FORGOTTEN, MEMORY } from '../scheduler/taskStates.js';
import type { ClusterEngine } from './clusterEngine.js';
import type { ComputationState } from './computationState.js';

/** Prefixes that the event names. */
const MAX_PREFIXES = 5;

/** Returns the local ids of tasks that run or have not run yet. */
export function* unfinishedTasks(engine: ClusterEngine, computation: ComputationState): Generator<number> {
  const { state } = engine.scheduler.state;
  const { segment, imports } = computation;
  let left = segment.unfinished;
  for (let local = 0; left > 0 && local < segment.size; local++) {
    const at = state[segment.base + local]!;
    if (at === MEMORY || at === ERRED || at === FORGOTTEN) continue;
    left--;
    // An import is a task of another computation, which yields it.
    if (!imports.has(local)) yield local;
  }
}

/**
 * Calls `close`, and records an event about the tasks that were unfinished before and are not any more.
 *
 * @param what what closes, e.g. `client`
 * @param isAll whether `close` ends all tasks
 */
export function cuttingOff(engine: ClusterEngine, what: string, isAll: boolean, close: () => void): void {
  const before = countsOf(unfinishedPrefixes(engine));
  close();
  const after = countsOf(isAll ? [] : unfinishedPrefixes(engine));
  const cut = Array.from(before, ([prefix, count]) => ({ prefix, count: count - (after.get(prefix) ?? 0) }));
  const all = cut.filter(({ count }) => count > 0);
  if (all.length === 0) return;
  const total = all.reduce((sum, { count }) => sum + count, 0);
  const names = all.slice(0, MAX_PREFIXES).map(({ prefix, count }) => `${count} ${prefix}`);
  if (all.length > MAX_PREFIXES) names.push('…');
  engine.event(
    'tasks-cut-off',
    `${countText(total, 'task')} had not ended when the ${what} closed: ${names.join(', ')}.`,
  );
}

/** Yields the prefix of each unfinished task. */
function* unfinishedPrefixes(engine: ClusterEngine): Generator<string> {
  for (const computation of engine.computations) {
    for (const local of unfinishedTasks(engine, computation)) yield prefixOf(computation.info, local);
  }
}
