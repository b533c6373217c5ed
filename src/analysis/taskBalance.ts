// Is the work spread evenly? How many results each worker held, second by second.
import { checkOptions, kind, type OptionKinds } from '../base/arguments.js';
import { invalidArgument } from '../base/errors.js';
import { sortedOrder } from '../base/sortedOrder.js';
import type { Trace } from '../trace/trace.js';
import { type Column, Table } from './table.js';

/** Title of the first column; the others are called as the workers. */
export const INTERVAL_TITLE = 'Time Interval (seconds from begin)';

/** A table of more cells has no reader; damaged times would ask for as many as they like. */
const MAX_CELLS = 50_000_000;
/** Of a table whose interval nobody chose: two and three quarter hours, second by second. */
const MAX_ROWS = 10_000;

export interface TaskBalanceOptions {
  /** Seconds per row, more than 0. Default 1. */
  readonly interval?: number;
}

const OPTIONS: OptionKinds<TaskBalanceOptions> = {
  interval: kind('seconds, more than 0', (value) => typeof value === 'number' && value > 0),
};

/**
 * One row per interval since the first event of managed memory, silent ones included; a column per worker with the most
 * results that it held at any time of the interval. What a worker holds it keeps until it says otherwise; before its
 * first event the cell is null. Throws ERR_LONGPOLE_INVALID_ARGUMENT if that makes more than 50 million cells.
 *
 * @source DASF, `TraceAnalyser.per_worker_task_balance`
 */
export function taskBalance(trace: Trace, options: TaskBalanceOptions = {}): Table {
  checkOptions('perWorkerTaskBalance()', options, OPTIONS);
  const { interval = 1 } = options;
  return balanceOf(trace, lanesOf(trace), interval);
}

/**
 * The same, with rows of a second, or, where those would be more than 10,000, of the next 2, 5, 10, 20, … seconds.
 * Throws ERR_LONGPOLE_INVALID_ARGUMENT if the times are so far apart that no number says how far.
 */
export function fittingTaskBalance(trace: Trace): Table {
  const lanes = lanesOf(trace);
  return balanceOf(trace, lanes, fittingInterval(spanOf(lanes), lanes.workers.length));
}

function fittingInterval(span: number, workers: number): number {
  const most = Math.min(MAX_ROWS, Math.floor(MAX_CELLS / (workers + 1)));
  for (let power = 1; Number.isFinite(power); power *= 10) {
    for (const step of [1, 2, 5]) {
      if (rowsOf(span, step * power) <= most) return step * power;
    }
  }
  return 1;
}

/** Seconds from the first event to the last; below 0 where there is none. */
function spanOf({ begin, last }: Lanes): number {
  return last - begin;
}

function rowsOf(span: number, interval: number): number {
  return span < 0 ? 0 : Math.floor(span / interval) + 1;
}

function balanceOf(trace: Trace, lanes: Lanes, interval: number): Table {
  const { strings } = trace;
  const { time, tasks, length } = trace.memory;
  const span = spanOf(lanes);
  const rows = rowsOf(span, interval);
  const count = lanes.workers.length;
  if (!(rows * (count + 1) <= MAX_CELLS)) {
    throw invalidArgument(
      Number.isFinite(span)
        ? `The events of managed memory span ${span.toPrecision(3)} s: a row for every ${interval} s would be ${rows} rows. Pass a longer interval.`
        : `The events of managed memory are from ${lanes.begin} s to ${lanes.last} s, which are no times of one run: record it again.`,
    );
  }
  const peaks = lanes.workers.map(() => new Float64Array(rows).fill(Number.NaN));
  // By lane: what the worker held last, and the row of that event.
  const held = new Float64Array(count);
  const heldRow = new Int32Array(count).fill(-1);
  for (let i = 0; i < length; i++) {
    const event = lanes.order === undefined ? i : lanes.order[i]!;
    const lane = lanes.laneOf[lanes.worker[event]! + 1]!;
    const peak = peaks[lane]!;
    const row = Math.min(rows - 1, Math.floor((time[event]! - lanes.begin) / interval));
    const before = heldRow[lane]!;
    if (before >= 0 && row > before) peak.fill(held[lane]!, before + 1, row + 1);
    const now = tasks[event]!;
    // Also true where nothing is known yet.
    if (!(peak[row]! >= now)) peak[row] = now;
    held[lane] = now;
    heldRow[lane] = row;
  }
  const columns: Column[] = lanes.workers.map((id, lane) => ({
    title: id < 0 ? '' : strings.get(id),
    numbers: peaks[lane]!.fill(held[lane]!, heldRow[lane]! + 1),
  }));
  columns.sort((a, b) => (a.title < b.title ? -1 : 1));
  const intervals = new Float64Array(rows).map((_, row) => row * interval);
  return new Table([{ title: INTERVAL_TITLE, numbers: intervals }, ...columns]);
}

interface Lanes {
  /** By event: the worker's name, a string id, -1 without worker. */
  readonly worker: Int32Array;
  /** Workers in the order of their first event. */
  readonly workers: readonly number[];
  /** Worker + 1 → its place in `workers`. */
  readonly laneOf: Int32Array;
  readonly begin: number;
  readonly last: number;
  /** Events by time; undefined if those of every worker already stand so. Workers write in batches: files mostly do. */
  readonly order: Int32Array | undefined;
}

function lanesOf(trace: Trace): Lanes {
  const { time, length } = trace.memory;
  const names = trace.workers.name;
  const worker = trace.memory.worker.map((row) => (row < 0 ? -1 : names[row]!));
  const workers: number[] = [];
  const laneOf = new Int32Array(trace.strings.length + 1).fill(-1);
  const latest: number[] = [];
  let begin = Infinity;
  let last = -Infinity;
  let inOrder = true;
  for (let event = 0; event < length; event++) {
    const at = time[event]!;
    const id = worker[event]! + 1;
    let lane = laneOf[id]!;
    if (lane < 0) {
      lane = workers.push(id - 1) - 1;
      laneOf[id] = lane;
      latest[lane] = at;
    }
    if (at < latest[lane]!) inOrder = false;
    latest[lane] = at;
    if (at < begin) begin = at;
    if (at > last) last = at;
  }
  return { worker, workers, laneOf, begin, last, order: inOrder ? undefined : sortedOrder(time, false) };
}
