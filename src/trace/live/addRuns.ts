// Runs that ended, added to the totals of a live trace: the part of its work that is done task by task.
import { TASK_MEMORY, type TaskRuns } from '../../protocol/clusterObserver.js';
import type { PrefixSums, TotalSums } from '../totals.js';

/** `sums` by index into the computation's prefixes. */
export function addRuns(totals: TotalSums, sums: readonly PrefixSums[], runs: TaskRuns): void {
  const { count, ids, states, nbytes, started, stopped } = runs;
  const { prefixOf } = runs.computation;
  let [busy, bytes] = [0, 0];
  for (let i = 0; i < count; i++) {
    const state = states[i]!;
    const seconds = stopped[i]! - started[i]!;
    sums[prefixOf[ids[i]!]!]?.add(state, seconds, nbytes[i]!);
    totals.states[state]! += 1;
    if (seconds >= 0) busy += seconds;
    if (state === TASK_MEMORY && nbytes[i]! > 0) bytes += nbytes[i]!;
  }
  totals.addBusy(runs.worker, busy);
  totals.addAction(0, count, busy, bytes);
}
