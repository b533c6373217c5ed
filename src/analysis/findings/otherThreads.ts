// Reads from the samples of a trace how much CPU time threads of the program used that run neither tasks nor the scheduler:
// those on which Node computes for crypto, zlib and files, and those on which V8 compiles and collects garbage.
import { oncePer } from '../../base/lookUps.js';
import { sortedOrder } from '../../base/sortedOrder.js';
import { SCHEDULER_CORE_TIME } from '../../protocol/traceNames.js';
import type { Trace } from '../../trace/trace.js';
import { firstStart } from '../workerLives.js';
import { metricSeconds } from './metricSeconds.js';
import { hasCpuMetrics } from './noncpu.js';

/** Activities of tasks on their own thread. */
const OWN = ['thread-cpu', 'gc', 'executor', 'import', 'serialize', 'deserialize'] as const;

/**
 * Returns the CPU seconds of these threads after the start of the first task; NaN if they are not recorded. Workers that are
 * processes of local schedulers have no figure of the thread that runs tasks, so their threads are left out.
 */
export const otherThreadSeconds = oncePer((trace: Trace): number => {
  const { worker, figures } = trace.resources;
  const cpu = figures.get('cpu');
  const scheduler = figures.get(SCHEDULER_CORE_TIME);
  if (cpu === undefined || scheduler === undefined) return Number.NaN;
  const from = firstStart(trace);
  const last = new Map<number, number>();
  let [program, workers] = [0, 0];
  let [first, latest] = [Number.NaN, Number.NaN];
  for (const row of sortedOrder(trace.resources.time, false)) {
    const time = trace.resources.time[row]!;
    const isHost = worker[row] === -1;
    const before = last.get(worker[row]!);
    last.set(worker[row]!, time);
    if (before === undefined || before < from) continue;
    if (isHost && Number.isNaN(first)) first = scheduler[row]!;
    else if (isHost) {
      latest = scheduler[row]!;
      program += (cpu[row]! / 100) * (time - before);
    } else workers += ((cpu[row]! || 0) / 100) * (time - before);
  }
  return Math.max(0, program - (latest - first) - Math.min(workers, measuredSeconds(trace)));
});

/** Returns the seconds that tasks used on their threads, by metrics; Infinity without metrics. */
function measuredSeconds(trace: Trace): number {
  if (!hasCpuMetrics(trace)) return Number.POSITIVE_INFINITY;
  return OWN.reduce((sum, activity) => sum + metricSeconds(trace, activity).total, 0);
}
