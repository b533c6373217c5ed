// Separates waits for a slot of an idle thread from those for a slot of a thread that computes (`concurrentTasks`).
import { eachUse } from '../lanes.js';
import { fullSpansBetween } from '../path/fullSlots.js';
import { TimeBins } from '../timeBins.js';
import { BINS, type Facts } from './finding.js';
import { threadSamples } from './sampledCpu.js';

/** Seconds from the start of the path to a time. */
interface ThreadTime {
  /** Seconds in which no task was in the slot. */
  readonly free: (time: number) => number;
  /** Seconds in which the thread did not compute either. */
  readonly idle: (time: number) => number;
}

/**
 * Returns the share of the critical path's waits for a slot in which the thread of the worker was idle, 0 to 1. Tasks that
 * have left their slot may compute, and then more slots do not help. Clusters measure the time in which they do. Local
 * schedulers do not, so samples of the thread's CPU time count, too.
 */
export function idleShareOfSlotWaits(facts: Facts): number {
  const { trace, lanes } = facts;
  const threads = new Map<number, ThreadTime>();
  let [free, idle] = [0, 0];
  for (const { start, stop, row } of facts.parts('waiting for a worker')) {
    const lane = row < 0 ? -1 : lanes.laneOf[row]!;
    if (lane < 0) continue;
    for (const span of fullSpansBetween(trace, lane, start, stop)) {
      const thread = threads.get(lane) ?? threadTime(facts, lane);
      threads.set(lane, thread);
      const [from, to] = [Math.max(start, span.start), Math.min(stop, span.stop)];
      free += thread.free(to) - thread.free(from);
      idle += thread.idle(to) - thread.idle(from);
    }
  }
  return free > 0 ? idle / free : 1;
}

function threadTime({ trace, lanes, path }: Facts, lane: number): ThreadTime {
  const bins = () => new TimeBins(path.start, path.stop, BINS);
  const [slot, used, cpu] = [bins(), bins(), bins()];
  const { started } = trace.tasks;
  for (const row of lanes.spans.rows.subarray(lanes.offsets[lane]!, lanes.offsets[lane + 1]!)) {
    slot.add(started[row]!, lanes.stop[row]!);
    eachUse(trace, row, (start, stop, share) => used.add(start, stop, share));
  }
  const samples = threadSamples(trace).get(lanes.worker[lane]!);
  samples?.times.forEach((time, at) => {
    const before = samples.times[at - 1] ?? time;
    if (time > before) cpu.add(before, time, samples.used[at]! / (time - before));
  });
  const [inSlot, inUse, onCore] = [slot.means(), used.means(), cpu.means()];
  return {
    free: slot.integral(inSlot.map((share) => Math.max(0, 1 - share))),
    idle: slot.integral(inUse.map((share, bin) => Math.max(0, 1 - Math.max(share, onCore[bin]!)))),
  };
}
