// Finds the times in which a worker could start no task because its tasks that await promises filled its slots.
import { oncePer } from '../../base/lookUps.js';
import type { Trace } from '../../trace/trace.js';
import { lanesOf } from '../lanes.js';
import { type Span, spansBetween } from '../spans.js';
import { submissionsOf } from '../submissionTimes.js';

/** A time span in which all slots of a thread were taken, and the row of the task whose end freed a slot. */
interface FullSpan extends Span {
  readonly task: number;
}

/**
 * Returns the spans of the lane that overlap with the time from `from` to `to`, the last one first. A trace does not
 * contain the number of slots (`concurrentTasks`), so the largest number of tasks that overlap is taken for it.
 */
export function fullSpansBetween(trace: Trace, lane: number, from: number, to: number): FullSpan[] {
  return spansBetween(fullSlots(trace).get(lane) ?? [], from, to);
}

/** Returns the spans by lane, in order. Lanes without tasks that overlap have none. Cost: a sort of these lanes' tasks. */
const fullSlots = oncePer((trace: Trace): ReadonlyMap<number, readonly FullSpan[]> => {
  const { seceded } = trace.tasks;
  const { count, spans, offsets } = lanesOf(trace);
  // A task that waits for tasks which it has submitted takes no slot.
  const submitters = new Set(submissionsOf(trace).submitter);
  const found = new Map<number, FullSpan[]>();
  for (let lane = 0; lane < count; lane++) {
    const rows = spans.rows.subarray(offsets[lane]!, offsets[lane + 1]!);
    if (!rows.some((row) => !Number.isNaN(seceded[row]!))) continue;
    found.set(
      lane,
      spansOf(
        trace,
        rows.filter((row) => !submitters.has(row)),
      ),
    );
  }
  return found;
});

/** @param rows rows of the tasks of a lane, in order of start */
function spansOf({ tasks: { started, stopped } }: Trace, rows: Int32Array): FullSpan[] {
  const ends = rows.slice().sort((a, b) => stopped[a]! - stopped[b]!);
  /** Calls `visit` with the number of tasks in progress after each start of a task, and the next end of a task. */
  const walk = (visit: (running: number, start: number, end: number) => void): void => {
    let ended = 0;
    for (const [at, row] of rows.entries()) {
      while (ended < at && stopped[ends[ended]!]! <= started[row]!) ended++;
      visit(at + 1 - ended, started[row]!, ends[ended]!);
    }
  };
  let slots = 0;
  walk((running) => {
    slots = Math.max(slots, running);
  });
  const full: FullSpan[] = [];
  if (slots < 2) return full;
  walk((running, start, task) => {
    if (running === slots) full.push({ start, stop: stopped[task]!, task });
  });
  return full;
}
