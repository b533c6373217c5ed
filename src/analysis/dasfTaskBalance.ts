// The balance table as DASF computes it: the last count of each second of the recorder's clock, seconds without events
// left out, 0 for a worker that was silent, and rows numbered in the order in which pandas met them.
import { sortedOrder } from '../base/sortedOrder.js';
import type { Trace } from '../trace/trace.js';
import { type Column, Table } from './table.js';
import { INTERVAL_TITLE } from './taskBalance.js';

/** `per_worker_task_balance`. */
export function dasfTaskBalance(trace: Trace): Table {
  const seconds = lastCounts(trace);
  const times = [...seconds.keys()].sort((a, b) => a - b);
  const begin = times[0] ?? 0;
  const workers = [...new Set(times.flatMap((time) => [...(seconds.get(time)?.keys() ?? [])]))];
  // pandas numbers the rows worker by worker: those of the first, then what the second adds, and so on.
  const numbered = [
    ...new Set(workers.flatMap((worker) => times.filter((time) => seconds.get(time)?.has(worker)))),
  ];
  const columns: Column[] = workers.map((worker) => {
    const counts = numbered.map((time) => seconds.get(time)?.get(worker));
    return {
      title: worker < 0 ? '' : trace.strings.get(worker),
      numbers: Float64Array.from(counts, (count) => count ?? 0),
      // Where a value was missing pandas made the column one of floats.
      float: counts.includes(undefined),
    };
  });
  columns.sort((a, b) => (a.title < b.title ? -1 : 1));
  const intervals = Float64Array.from(numbered, (time) => time - begin);
  return new Table([{ title: INTERVAL_TITLE, numbers: intervals }, ...columns], {
    order: sortedOrder(intervals, false),
    pandasIndex: Int32Array.from(numbered, (_, row) => row),
  });
}

/** Second → name of the worker → the last count in the order of the file. */
function lastCounts({ memory, workers }: Trace): Map<number, Map<number, number>> {
  const seconds = new Map<number, Map<number, number>>();
  for (let row = 0; row < memory.length; row++) {
    const second = Math.trunc(memory.time[row]!);
    let counts = seconds.get(second);
    if (counts === undefined) {
      counts = new Map();
      seconds.set(second, counts);
    }
    const worker = memory.worker[row]!;
    counts.set(worker < 0 ? -1 : workers.name[worker]!, memory.tasks[row]!);
  }
  return seconds;
}
