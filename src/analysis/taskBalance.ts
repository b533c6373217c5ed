// Is the work spread evenly? How many results each worker held, second by second.
import { LongpoleError } from '../base/errors.js';
import { sortedOrder } from '../base/sortedOrder.js';
import type { Trace } from '../trace/trace.js';
import { type Column, Table } from './table.js';

/** Title of the first column; the others are called as the workers. */
export const INTERVAL_TITLE = 'Time Interval (seconds from begin)';

/** A table of more cells has no reader; damaged times would ask for as many as they like. */
const MAX_CELLS = 50_000_000;

export interface TaskBalanceOptions {
  /** Seconds per row, more than 0. Default 1. */
  readonly interval?: number;
}

/**
 * One row per interval since the first event of managed memory, silent ones included; a column per worker with the most
 * results that it held at any time of the interval. What a worker holds it keeps until it says otherwise; before its
 * first event the cell is null. Throws ERR_LONGPOLE_INVALID_ARGUMENT if that makes more than 50 million cells.
 *
 * @source DASF, `TraceAnalyser.per_worker_task_balance`
 */
export function taskBalance(trace: Trace, { interval = 1 }: TaskBalanceOptions = {}): Table {
  if (!(interval > 0)) {
    throw new LongpoleError(
      'ERR_LONGPOLE_INVALID_ARGUMENT',
      `interval must be more than 0 seconds, not ${interval}.`,
    );
  }
  const { memory, strings } = trace;
  const order = sortedOrder(memory.time, false);
  const begin = order.length === 0 ? 0 : memory.time[order[0]!]!;
  const last = order.length === 0 ? 0 : memory.time[order[order.length - 1]!]!;
  const rows = order.length === 0 ? 0 : Math.floor((last - begin) / interval) + 1;
  const workers = [...new Set(memory.worker)];
  if (!(rows * (workers.length + 1) <= MAX_CELLS)) {
    throw new LongpoleError(
      'ERR_LONGPOLE_INVALID_ARGUMENT',
      `The events of managed memory span ${(last - begin).toPrecision(3)} s: a row for every ${interval} s would be ${rows} rows. Pass a longer interval.`,
    );
  }
  const peaks = new Map(workers.map((worker) => [worker, new Float64Array(rows).fill(Number.NaN)]));
  const held = new Map<number, { row: number; tasks: number }>();
  for (const event of order) {
    const worker = memory.worker[event]!;
    const column = peaks.get(worker)!;
    const row = Math.min(rows - 1, Math.floor((memory.time[event]! - begin) / interval));
    const before = held.get(worker);
    if (before !== undefined && row > before.row) column.fill(before.tasks, before.row + 1, row + 1);
    const tasks = memory.tasks[event]!;
    column[row] = Number.isNaN(column[row]!) ? tasks : Math.max(column[row]!, tasks);
    held.set(worker, { row, tasks });
  }
  for (const [worker, { row, tasks }] of held) peaks.get(worker)!.fill(tasks, row + 1);
  return new Table([
    { title: INTERVAL_TITLE, numbers: Float64Array.from({ length: rows }, (_, row) => row * interval) },
    ...workerColumns(peaks, (worker) => (worker < 0 ? '' : strings.get(worker))),
  ]);
}

function workerColumns(
  peaks: ReadonlyMap<number, Float64Array>,
  nameOf: (worker: number) => string,
): Column[] {
  return [...peaks]
    .map(([worker, numbers]) => ({ title: nameOf(worker), numbers }))
    .sort((a, b) => (a.title < b.title ? -1 : 1));
}
