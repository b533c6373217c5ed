// The totals of a trace that is not live, computed from its rows.

import { type PrefixSums, TotalSums, type TraceTotals } from './totals.js';
import { type Trace, textOf } from './trace.js';

/** Returns the totals of a trace that holds all its rows. */
export function totalsOfRows(trace: Omit<Trace, 'totals'>): TraceTotals {
  const sums = new TotalSums();
  addThreads(sums, trace.workers);
  addTasks(sums, trace);
  const { intervals, transfers, metrics, strings } = trace;
  for (let row = 0; row < intervals.length; row++) {
    const seconds = intervals.stop[row]! - intervals.start[row]!;
    sums.addAction(intervals.action[row]!, 1, seconds, intervals.nbytes[row]!);
  }
  for (let row = 0; row < transfers.length; row++) {
    sums.addTransfer(
      transfers.worker[row]!,
      transfers.peer[row]!,
      transfers.direction[row] === 0,
      transfers.nbytes[row]!,
      transfers.compressed[row]!,
      transfers.stop[row]! - transfers.start[row]!,
    );
  }
  const text = (id: number): string => textOf(strings, id);
  for (let row = 0; row < metrics.length; row++) {
    sums.addMetric({
      context: text(metrics.context[row]!),
      span: text(metrics.span[row]!),
      prefix: text(metrics.prefix[row]!),
      activity: text(metrics.activity[row]!),
      unit: text(metrics.unit[row]!),
      value: metrics.value[row]!,
    });
  }
  return sums.copy(trace.workers.length);
}

function addThreads(
  { offeredTime }: TotalSums,
  { length, threads, started, stopped }: Trace['workers'],
): void {
  const changes: { time: number; change: number }[] = [];
  for (let row = 0; row < length; row++) {
    if (!(threads[row]! > 0) || Number.isNaN(started[row]!)) continue;
    changes.push({ time: started[row]!, change: threads[row]! });
    if (!Number.isNaN(stopped[row]!)) changes.push({ time: stopped[row]!, change: -threads[row]! });
  }
  changes.sort((a, b) => a.time - b.time);
  for (const { time, change } of changes) offeredTime.changeThreads(time, change);
}

function addTasks(sums: TotalSums, { tasks, strings }: Omit<Trace, 'totals'>): void {
  const { prefix, state, duration, nbytes, worker, submitted, started, acknowledged } = tasks;
  const known = new Map<number, PrefixSums>();
  let [timed, seconds, bytes] = [0, 0, 0];
  let last = -2;
  let current = sums.prefix('');
  sums.prefixes.clear();
  let [from, to] = [Number.NaN, Number.NaN];
  for (let row = 0; row < tasks.length; row++) {
    // Runs of one report have the same times.
    if (submitted[row] !== from || acknowledged[row] !== to) {
      [from, to] = [submitted[row]!, acknowledged[row]!];
      sums.offeredTime.add(from, to);
    }
    const id = prefix[row]!;
    if (id !== last) {
      last = id;
      current = known.get(id) ?? sums.prefix(textOf(strings, id));
      known.set(id, current);
    }
    const took = duration[row]!;
    const begun = submitted[row]!;
    sums.addStart(Number.isNaN(begun) ? started[row]! : begun);
    current.add(state[row]!, took, nbytes[row]!);
    sums.states[state[row]!]! += 1;
    if (nbytes[row]! > 0) bytes += nbytes[row]!;
    if (!(took >= 0)) continue;
    timed++;
    seconds += took;
    sums.addBusy(worker[row]!, took);
  }
  sums.addAction(0, timed, seconds, bytes);
}
