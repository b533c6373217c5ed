// Plots of lines over time from a trace: memory, resources, transferred bytes. Times count from the model's origin.
import { recordsTransfers } from '../../analysis/programTransfers.js';
import { TimeBins } from '../../analysis/timeBins.js';
import { rowsWhere, sortBy } from '../../base/groups.js';
import { pushTo, rangeOf } from '../../base/lookUps.js';
import { sampledLevels } from '../../trace/localMetrics.js';
import { DIRECTIONS, TRANSFER_KINDS, type Trace, workerName } from '../../trace/trace.js';
import { assignColors, lineSlot } from './palette.js';
import { type LinesPlot, linesPlot, type PlotLine, type ResourcePlot } from './profileModel.js';
import { largestOf, lineSeries, type Series } from './series.js';
import type { AxisUnit } from './ticks.js';

/** Bins of a rate in bytes per second. */
const BINS = 400;
/** Lines that a reader can distinguish. */
const MAX_LINES = 12;
/** Fixed colours, so that memory looks the same on every page. */
export const MEMORY_SLOTS = { managed: 12, unmanaged: 2, spilled: 6 } as const;
export const MEMORY_PARTS = ['managed', 'unmanaged', 'spilled'] as const;

function stepsOf(time: Float64Array, value: Float64Array): Series {
  return { time, value, steps: true, largest: largestOf(value) };
}

/**
 * Returns the memory of all workers, or of one, as surfaces of managed, unmanaged and spilled bytes. The memory of a
 * worker that has left is 0.
 */
export function memoryPlot(trace: Trace, origin: number, worker?: number): LinesPlot {
  const { memory, workers } = trace;
  // After the samples, there is a row per worker for the time at which it left.
  const times = new Float64Array(memory.length + workers.length);
  times.set(memory.time);
  times.set(workers.stopped, memory.length);
  const workerOf = (row: number): number => (row < memory.length ? memory.worker[row]! : row - memory.length);
  // Workers that leave after the last sample do not lengthen the time axis.
  const end = largestOf(memory.time);
  const rows = rowsInTime(times, (row) => {
    const isLate = row < memory.length && times[row]! > workers.stopped[workerOf(row)]!;
    return (worker === undefined || workerOf(row) === worker) && times[row]! <= end && !isLate;
  });
  const time = new Float64Array(rows.length);
  const sums = MEMORY_PARTS.map(() => new Float64Array(rows.length));
  // The latest sample of a worker holds until its next sample, or until the worker leaves.
  const latest = new Map<number, readonly number[]>();
  const now = MEMORY_PARTS.map(() => 0);
  for (const [i, row] of rows.entries()) {
    const values = MEMORY_PARTS.map((part) => Math.max(0, memory[part][row]! || 0));
    const before = latest.get(workerOf(row));
    latest.set(workerOf(row), values);
    time[i] = times[row]! - origin;
    let stack = 0;
    for (const [part, value] of values.entries()) {
      now[part] = now[part]! + value - (before?.[part] ?? 0);
      stack += now[part]!;
      sums[part]![i] = stack;
    }
  }
  const lines = MEMORY_PARTS.map((name, part) => ({
    name,
    slot: MEMORY_SLOTS[name],
    series: stepsOf(time, sums[part]!),
  }));
  const title = worker === undefined ? 'Memory of all workers' : 'Memory';
  return linesPlot(
    title,
    'bytes',
    rows.some((row) => row < memory.length) ? lines : [],
    'The trace has no samples of memory.',
    true,
  );
}

/** Returns a line through the values of rows in any order. */
export function seriesOfRows(
  list: Iterable<number>,
  times: Float64Array,
  values: Float64Array,
  origin: number,
): Series {
  const rows = Uint32Array.from(list);
  sortBy(rows, times);
  const [time, value] = [times, values].map((column) => Float64Array.from(rows, (row) => column[row]!));
  return lineSeries(...heldInPauses(time!, value!), origin);
}

/** A pause is an interval of samples that is this many times as long as the mean. */
const PAUSE = 10;

/**
 * Local schedulers take no samples while no task runs. The first sample after such a pause is about all of it, so its value
 * begins where the pause begins, instead of a slope from the last busy sample.
 */
function heldInPauses(time: Float64Array, value: Float64Array): [Float64Array, Float64Array] {
  const longest = (PAUSE * (time[time.length - 1]! - time[0]!)) / (time.length - 1);
  const times: number[] = [];
  const values: number[] = [];
  for (const [i, at] of time.entries()) {
    if (at - time[i - 1]! > longest) {
      times.push(time[i - 1]!);
      values.push(value[i]!);
    }
    times.push(at);
    values.push(value[i]!);
  }
  return [Float64Array.from(times), Float64Array.from(values)];
}

/** Returns CPU and memory of the scheduler and its workers together, with separate axes. */
export function resourcePlot({ resources }: Trace, origin: number): ResourcePlot {
  const { time, worker, figures } = resources;
  const [cpu, rss] = [figures.get('cpu'), figures.get('rss')];
  const isSampled = (row: number): boolean =>
    worker[row]! < 0 && cpu !== undefined && rss !== undefined && !Number.isNaN(cpu[row]! + rss[row]!);
  const rows = rowsInTime(time, isSampled);
  const of = (values: Float64Array = new Float64Array(0)): Series => seriesOfRows(rows, time, values, origin);
  return { type: 'resources', cpu: of(cpu), memory: of(rss) };
}

/** Message of a plot without samples of a MemorySampler. */
const NO_SAMPLES =
  'No sample was taken. Start a sample before you compute: await using _ = sampler.sample("first").';

export function sampledPlot(trace: Trace, origin: number): LinesPlot {
  const levels = sampledLevels(trace);
  const slots = assignColors(levels.map(({ label }) => label));
  const lines = levels.map(({ label, points }, i): PlotLine => {
    const time = Float64Array.from(points, (point) => point.time);
    const value = Float64Array.from(points, ({ bytes }) => bytes);
    return { name: label, slot: slots[i]!, series: lineSeries(time, value, origin) };
  });
  return { ...linesPlot('Memory', 'bytes', lines, NO_SAMPLES), samples: true };
}

export interface Figure {
  readonly figure: string;
  readonly title: string;
  readonly unit: AxisUnit;
}

/** Returns a figure of resources as a line per worker that has it, or for the host. */
export function figurePlot(
  trace: Trace,
  origin: number,
  of: 'host' | 'workers' | 'all' | number,
  { figure, title, unit }: Figure,
): LinesPlot {
  const { resources } = trace;
  const values = resources.figures.get(figure);
  const rowsOf = new Map<number, number[]>();
  for (let row = 0; row < (values === undefined ? 0 : resources.length); row++) {
    const worker = resources.worker[row]!;
    const wanted =
      of === 'all' || (of === 'host' ? worker < 0 : of === 'workers' ? worker >= 0 : worker === of);
    if (!wanted || Number.isNaN(values?.[row])) continue;
    pushTo(rowsOf, worker, row);
  }
  const shown = [...rowsOf].sort(([a], [b]) => a - b).slice(0, MAX_LINES);
  const omitted = rowsOf.size - shown.length;
  const host = of === 'all' ? 'scheduler' : 'host';
  const lines = shown.map(([worker, list]): PlotLine => {
    const series = seriesOfRows(list, resources.time, values!, origin);
    return { name: worker < 0 ? host : workerName(trace, worker), slot: lineSlot(worker), series };
  });
  return { ...linesPlot(title, unit, lines, `The trace has no samples for “${title}”.`), omitted };
}

/** Returns transferred bytes per second by kind of transfer. */
export function bandwidthPlot(trace: Trace, origin: number, worker?: number): LinesPlot {
  const { transfers } = trace;
  const { start: first, stop: last } = rangeOf(transfers.start, transfers.stop);
  const empty = recordsTransfers(trace)
    ? 'No data were transferred between workers.'
    : 'The trace has no transfers. Local schedulers measure only copies of 5 ms or more.';
  if (!(last > first)) return linesPlot('Transferred bytes', 'bytes/s', [], empty);
  const kinds = TRANSFER_KINDS.map(() => new TimeBins(first, last, BINS));
  const sides = new Set<number>();
  for (let row = 0; row < transfers.length; row++) {
    if (worker !== undefined && transfers.worker[row] !== worker) continue;
    // Both workers record a transfer between them. If all workers are shown, only the receiving side counts.
    const incoming = DIRECTIONS[transfers.direction[row]!] === 'incoming';
    if (worker === undefined && !incoming && transfers.peer[row]! >= 0) continue;
    const [start, stop] = [
      transfers.start[row]!,
      Math.max(transfers.stop[row]!, transfers.start[row]! + 1e-6),
    ];
    kinds[transfers.what[row]!]?.add(start, stop, transfers.nbytes[row]! / (stop - start));
    sides.add(transfers.what[row]!);
  }
  const time = kinds[0]!.times().map((at) => at + first - origin);
  const slots = assignColors(TRANSFER_KINDS);
  const lines = TRANSFER_KINDS.flatMap((name, kind) =>
    sides.has(kind) ? [{ name, slot: slots[kind]!, series: stepsOf(time, kinds[kind]!.means()) }] : [],
  );
  return { ...linesPlot('Transferred bytes', 'bytes/s', lines, empty), meanOf: kinds[0]!.width };
}

/** Returns values over time as stacked surfaces, the first at the bottom. */
export function stackedPlot(
  title: string,
  unit: AxisUnit,
  time: Float64Array,
  parts: readonly { readonly name: string; readonly slot: number; readonly value: Float64Array }[],
  empty: string,
): LinesPlot {
  let below = new Float64Array(time.length);
  const lines = parts.map(({ name, slot, value }) => {
    below = below.map((sum, i) => sum + value[i]!);
    return { name, slot, series: stepsOf(time, below) };
  });
  return linesPlot(title, unit, lines, empty, true);
}

function rowsInTime(time: Float64Array, wanted: (row: number) => boolean): Int32Array {
  const rows = rowsWhere(time.length, (row) => wanted(row) && !Number.isNaN(time[row]!));
  sortBy(rows, time);
  return rows;
}
