// Runs that ended, added to the totals of a live trace: the part of its work that is done task by task.
import { TASK_LOST, TASK_MEMORY, type TaskRuns } from '../../protocol/clusterObserver.js';
import type { TotalSums } from '../totals.js';
import type { KnownComputation } from './liveComputations.js';

export function addRuns(totals: TotalSums, { sums, open, ended }: KnownComputation, runs: TaskRuns): void {
  const { count, ids, states, nbytes, started, stopped } = runs;
  const { prefixOf } = runs.computation;
  let [busy, bytes] = [0, 0];
  for (let i = 0; i < count; i++) {
    const id = ids[i]!;
    const state = states[i]!;
    const seconds = stopped[i]! - started[i]!;
    const prefix = prefixOf[id]!;
    const of = sums[prefix];
    if (of !== undefined) {
      of.add(state, seconds, nbytes[i]!);
      const before = ended[id]!;
      of.tasks.ended(state, state === TASK_LOST || before === 0 ? undefined : before - 1);
      // A task counts once, as its latest run ended: lost results are computed again, failed tasks are tried again.
      if (state !== TASK_LOST) {
        if (before === 0) open[prefix]!--;
        ended[id] = state + 1;
      }
    }
    totals.states[state]! += 1;
    if (seconds >= 0) busy += seconds;
    if (state === TASK_MEMORY && nbytes[i]! > 0) bytes += nbytes[i]!;
  }
  totals.addBusy(runs.worker, busy);
  totals.addAction(0, count, busy, bytes);
}
