// Computes how many tasks ran at the same time, and how many were ready.
import type { Trace } from '../trace/trace.js';
import { eachUse, lanesOf } from './lanes.js';
import { windowOf } from './path/pathWalk.js';
import { readyTimes } from './submissionTimes.js';
import { Table } from './table.js';
import { TimeBins } from './timeBins.js';
import { threadsTogether } from './workerLives.js';

const BINS = 50;

/**
 * Returns one row per fiftieth of the run, with means over this time: running tasks, ready tasks that waited (null if
 * the trace has no times of readiness), and the percentage of busy threads.
 */
export function concurrency(trace: Trace): Table {
  const { length, started } = trace.tasks;
  const ready = readyTimes(trace);
  const { laneOf } = lanesOf(trace);
  const { start, stop } = windowOf(trace);
  if (!(stop > start)) return new Table([{ title: 'Time (s)', numbers: new Float64Array(0) }]);
  const running = new TimeBins(start, stop, BINS);
  const waiting = new TimeBins(start, stop, BINS);
  let hasReady = false;
  for (let row = 0; row < length; row++) {
    if (laneOf[row]! < 0) continue;
    eachUse(trace, row, (from, to, share) => running.add(from, to, share));
    if (Number.isNaN(ready[row]!)) continue;
    hasReady = true;
    waiting.add(ready[row]!, started[row]!);
  }
  const mean = running.means();
  // Traces of other programs may lack threads. Then at least as many exist as tasks run at the same time.
  const workers = Math.max(threadsTogether(trace), ...mean);
  return new Table([
    { title: 'Time (s)', numbers: new TimeBins(0, stop - start, BINS).times() },
    { title: 'Running', numbers: mean },
    { title: 'Ready and waiting', numbers: hasReady ? waiting.means() : mean.map(() => Number.NaN) },
    { title: 'Busy (%)', numbers: mean.map((tasks) => (tasks / workers) * 100) },
  ]);
}
