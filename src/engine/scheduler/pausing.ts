// Workers whose memory is full: what waits for them goes elsewhere, and what can run nowhere is found.
import type { WorkerPaused } from './events.js';
import type { SchedulerState } from './schedulerState.js';

/** Takes in that a worker pauses or goes on. */
export function pauseWorker(
  state: SchedulerState,
  { worker: index, paused, full = false }: WorkerPaused,
): void {
  const worker = state.workers.get(index);
  if (worker === undefined || (worker.paused === paused && worker.full === full)) return;
  const hasRoom = (worker.paused && !paused) || (worker.full && !full);
  worker.paused = paused;
  worker.full = full;
  // What waits for a paused worker goes elsewhere if it can.
  for (const other of state.workers.values()) {
    if (!other.paused || (!hasRoom && other !== worker)) continue;
    for (const id of [...other.placed]) {
      state.unplace(id, other);
      state.enqueue(id);
    }
  }
}

/**
 * Tasks that could run, while nothing runs and every worker that may run them is full: unless a client releases results or
 * the disk gets room, they wait forever.
 */
export function stuckTasks(state: SchedulerState): number[] {
  const workers = [...state.workers.values()];
  if (!workers.some(({ full }) => full) || workers.some(({ outstanding }) => outstanding > 0)) return [];
  const waiting = [...state.queued, ...workers.flatMap(({ placed }) => [...placed])];
  if (workers.every(({ full }) => full)) return waiting;
  const withRoom = workers.filter(({ full }) => !full);
  return waiting.filter((id) => !withRoom.some((worker) => state.mayRun(id, worker)));
}
