// The state of the workers of a recorded trace at a time, as rows like those of a live scheduler.
import { lanesOf } from '../../analysis/lanes.js';
import { addTo, firstWhere, oncePer } from '../../base/lookUps.js';
import { sortedOrder } from '../../base/sortedOrder.js';
import type { WorkerRow } from '../../protocol/viewMessages.js';
import { type Trace, workerName } from '../../trace/trace.js';
import type { ProfileModel } from './profileModel.js';
import type { TimeWindow } from './timeView.js';

/** Returns the epoch seconds that panels about workers show. On a live page, they show the workers as they are now. */
export function shownTime(
  { origin, run }: Pick<ProfileModel, 'origin' | 'run'>,
  window: TimeWindow,
  pointer: { readonly time: number } | undefined,
  isLive: boolean,
): number {
  if (isLive) return Number.POSITIVE_INFINITY;
  // The window extends a little beyond the run, to a time when its workers may have left.
  return origin + (pointer?.time ?? Math.min(window.stop, run.stop));
}

/** The properties that pages show. */
export type ShownWorker = Omit<WorkerRow, 'address' | 'host' | 'pid' | 'threads' | 'process' | 'started'>;

/** Returns the workers at `time`, in seconds since the epoch. Cost: O(memory samples) and a few look-ups per thread. */
export function workersAt(trace: Trace, time: number): ShownWorker[] {
  const { workers, memory } = trace;
  const latest = new Map<number, number>();
  for (const row of memoryInTime(trace)) {
    if (memory.time[row]! > time) break;
    latest.set(memory.worker[row]!, row);
  }
  const running = runningAt(trace, time);
  const rows: ShownWorker[] = [];
  for (let index = 0; index < workers.length; index++) {
    const hasLeft = workers.stopped[index]! < time;
    const hasJoined = !(workers.started[index]! > time);
    if (hasLeft || !hasJoined) continue;
    const row = latest.get(index);
    const bytes = (values: Float64Array): number => (row === undefined ? 0 : Math.max(0, values[row]! || 0));
    rows.push({
      index,
      name: workerName(trace, index),
      status: 'running',
      processing: running.get(index) ?? 0,
      occupancy: 0,
      memoryLimit: Math.max(0, workers.memoryLimit[index]! || 0),
      managed: bytes(memory.managed),
      unmanaged: bytes(memory.unmanaged),
      spilled: bytes(memory.spilled),
    });
  }
  return rows;
}

const memoryInTime = oncePer(({ memory }: Trace) => sortedOrder(memory.time, false));

/** Earlier runs to check for running tasks, because asynchronous tasks overlap on a thread. */
const LOOK_BACK = 256;

/** Returns the number of running tasks by worker. */
function runningAt(trace: Trace, time: number): Map<number, number> {
  const { tasks } = trace;
  const lanes = lanesOf(trace);
  const running = new Map<number, number>();
  for (let lane = 0; lane < lanes.count; lane++) {
    const first = lanes.offsets[lane]!;
    const end = firstWhere(
      first,
      lanes.offsets[lane + 1]!,
      (at) => tasks.started[lanes.spans.rows[at]!]! > time,
    );
    let count = 0;
    for (let at = end - 1; at >= Math.max(first, end - LOOK_BACK); at--) {
      if (lanes.stop[lanes.spans.rows[at]!]! > time) count++;
    }
    if (count > 0) addTo(running, lanes.worker[lane]!, count);
  }
  return running;
}
