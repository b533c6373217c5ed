// Reports the tasks that a close, or the end of the program, ends before they have ended by themselves. Otherwise a trace would not show them.
import { countsOf, sumOf } from '../../base/lookUps.js';
import { countText } from '../../base/words.js';
import { prefixOf } from '../../protocol/clusterObserver.js';
import { type BegunTask, countsText, TASKS_CUT_OFF, unfinishedText } from '../../protocol/eventTopics.js';
import { ERRED, FORGOTTEN, MEMORY, PROCESSING } from '../scheduler/taskStates.js';
import type { ClusterEngine } from './clusterEngine.js';
import type { ComputationState } from './computationState.js';
import { sharedLine } from './coordination/sharedDump.js';

/** Largest number of shared objects that the event names. */
const MAX_AWAITED = 3;

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
  const cut = new Map<string, number>();
  for (const [prefix, count] of before) {
    const left = count - (after.get(prefix) ?? 0);
    if (left > 0) cut.set(prefix, left);
  }
  if (cut.size === 0) return;
  const total = countText(sumOf(cut.values(), Number), 'task');
  engine.event(TASKS_CUT_OFF, `${total} had not ended when the ${what} closed: ${countsText(cut)}.`);
}

/** Records an event about unfinished tasks, because the program ends without closing the cluster. */
export function reportUnfinished(engine: ClusterEngine): void {
  const now = engine.clock();
  const running = runningSince(engine);
  const { state, location } = engine.scheduler.state;
  const begun: BegunTask[] = [];
  const others: string[] = [];
  for (const computation of engine.computations) {
    const { segment, info, dispatchedAt } = computation;
    for (const local of unfinishedTasks(engine, computation)) {
      const id = segment.base + local;
      const since = running.get(info.firstId + local);
      const worker = engine.workers.get(location[id]!);
      const hasBegun = state[id] === PROCESSING && worker?.host.hasBegun?.(info.number, local) === true;
      if (since === undefined && !hasBegun) {
        others.push(prefixOf(info, local));
        continue;
      }
      const seconds = Math.max(0, now - (since ?? dispatchedAt[local]!));
      const name = worker?.info.name ?? '';
      begun.push({ key: info.keys[local]!, worker: name, seconds, isExact: since !== undefined });
    }
  }
  if (begun.length + others.length > 0)
    engine.event(TASKS_CUT_OFF, `${unfinishedText({ begun, others }, 'program')}${waitsText(engine)}`);
}

/** Returns a sentence about the shared objects for which calls wait, e.g. after a deadlock; empty without such calls. */
function waitsText({ coordination }: ClusterEngine): string {
  const awaited = coordination.dump().filter(({ waits }) => waits.length > 0);
  if (awaited.length === 0) return '';
  const more = awaited.length > MAX_AWAITED ? `, and ${awaited.length - MAX_AWAITED} more` : '';
  return ` Calls waited for ${awaited.slice(0, MAX_AWAITED).map(sharedLine).join(', and for ')}${more}.`;
}

/** Returns the starts of the tasks that workers were last seen to run, by their ids in a trace. */
function runningSince(engine: ClusterEngine): Map<number, number> {
  const starts = new Map<number, number>();
  for (const { host } of engine.workers.values()) {
    const { running } = host;
    const firstId = running && engine.firstIdOf(running.run);
    if (running !== undefined && firstId !== undefined) starts.set(firstId + running.id, running.since);
  }
  return starts;
}

function* unfinishedPrefixes(engine: ClusterEngine): Generator<string> {
  for (const computation of engine.computations) {
    for (const local of unfinishedTasks(engine, computation)) yield prefixOf(computation.info, local);
  }
}
