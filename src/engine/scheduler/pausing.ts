// Workers whose memory is full. Moves their waiting tasks to other workers, and finds tasks that no worker can run.
import { NO_REGION } from '../../graph/joinedTasks.js';
import type { WorkerPaused } from './events.js';
import type { SchedulerState } from './schedulerState.js';

export function pauseWorker(
  state: SchedulerState,
  { worker: index, paused, full = false, leaving }: WorkerPaused,
): void {
  const worker = state.workers.get(index);
  if (worker === undefined) return;
  // It no longer takes the tasks that waited for it, even if it was paused before.
  const beginsToLeave = leaving === true && !worker.leaving;
  worker.leaving = leaving ?? worker.leaving;
  if (worker.paused === paused && worker.full === full && !beginsToLeave) return;
  const hasRoom = (worker.paused && !paused) || (worker.full && !full);
  worker.paused = paused;
  worker.full = full;
  worker.region = NO_REGION;
  // Moves tasks that wait for a paused worker to other workers if they may run there.
  for (const other of state.workers.values()) {
    if (!other.paused || (!hasRoom && other !== worker)) continue;
    for (const id of [...other.placed]) {
      state.unplace(id, other);
      state.enqueue(id);
    }
  }
}

/**
 * Returns tasks that could run but only on full workers, while nothing runs. They wait until a client releases
 * results or the disk has room.
 */
export function stuckTasks(state: SchedulerState): number[] {
  const workers = [...state.workers.values()];
  if (!workers.some(({ full }) => full) || workers.some(({ outstanding }) => outstanding > 0)) return [];
  const waiting = [...state.queued, ...workers.flatMap(({ placed }) => [...placed])];
  if (workers.every(({ full }) => full)) return waiting;
  const withRoom = workers.filter(({ full }) => !full);
  return waiting.filter((id) => !withRoom.some((worker) => state.mayRun(id, worker)));
}
