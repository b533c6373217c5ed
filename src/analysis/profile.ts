// Queries the samples of the statistical profiler in a trace: call trees, samples over time, and prefixes with samples.
import {
  ANY,
  COUNT,
  checkArgument,
  checkOptions,
  FLAG,
  NUMBER,
  type OptionKinds,
  TEXT,
  TRACE,
} from '../base/arguments.js';
import { getOrMake, rangeOf } from '../base/lookUps.js';
import { type CallTree, TreeBuilder } from '../profile/callTree.js';
import { type Trace, textOf } from '../trace/trace.js';

export interface ProfileTreeOptions {
  /** Prefix of the tasks. Default: all tasks. */
  readonly key?: string;
  /** Names of the outer spans of the tasks, e.g. `['Alice', 'load']`. Default: all spans. */
  readonly span?: readonly string[];
  /** Id of one task in `trace.tasks`. Samples that are added up belong to no task. Default: all tasks. */
  readonly task?: number;
  /** Seconds since the epoch from which samples are included. Default: the first sample. */
  readonly start?: number;
  /** Seconds since the epoch before which samples are included. Default: after the last sample. */
  readonly stop?: number;
  /** Names or addresses of the workers, or rows of `trace.workers`. Default: all workers. */
  readonly workers?: readonly (string | number)[];
  /** True for the scheduler's thread instead of the workers. Default false. */
  readonly scheduler?: boolean;
  /** True to include the time of workers in which no task's code ran, as `(runtime)`. Default false. */
  readonly all?: boolean;
}

/** Samples of the tasks of a prefix, and the seconds for which they stand. */
export interface ProfiledPrefix {
  readonly prefix: string;
  readonly samples: number;
  readonly seconds: number;
}

/** Samples in bins of equal length. */
export interface ProfileTimeline {
  readonly start: number;
  /** Length of a bin, seconds. */
  readonly step: number;
  /** Busy seconds in each bin. */
  readonly seconds: Float64Array;
}

const OPTIONS: OptionKinds<ProfileTreeOptions> = {
  key: TEXT,
  span: ANY,
  task: NUMBER,
  start: NUMBER,
  stop: NUMBER,
  workers: ANY,
  scheduler: FLAG,
  all: FLAG,
};

const OTHERS = { name: '(others)', filename: '', lineNumber: 0 };

/**
 * Returns the selected samples as one call tree. `client.profile()` does the same for a running cluster. Cost: one step
 * per sample and stack frame.
 *
 * @returns a tree with numbers of samples; a sample stands for `samplingInterval(trace)` seconds
 * @source Dask's `Client.profile`
 */
export function profileTree(trace: Trace, options: ProfileTreeOptions = {}): CallTree {
  checkArgument('profileTree(): trace', trace, TRACE);
  checkOptions('profileTree()', options, OPTIONS);
  const { samples, strings, frames } = trace;
  // The last stack stands for the samples without frames.
  const others = frames.length;
  const frameOf = (stack: number) =>
    stack === others
      ? OTHERS
      : {
          name: textOf(strings, frames.functionName[stack]!),
          filename: textOf(strings, frames.file[stack]!),
          lineNumber: frames.line[stack]!,
        };
  const tree = new TreeBuilder([...frames.parent, -1], frameOf);
  const isWanted = filterOf(trace, options);
  for (let row = 0; row < samples.length; row++) {
    const frame = samples.frame[row]!;
    if (isWanted(row)) tree.add(frame < 0 ? others : frame, samples.line[row]!, samples.count[row]!);
  }
  return tree.root;
}

/** Returns the busy seconds in `bins` bins of equal length, from the first sample of the trace to the last. */
export function profileTimeline(
  trace: Trace,
  bins: number,
  options: Omit<ProfileTreeOptions, 'start' | 'stop'> = {},
): ProfileTimeline {
  checkArgument('profileTimeline(): trace', trace, TRACE);
  checkArgument('profileTimeline(): bins', bins, COUNT);
  checkOptions('profileTimeline()', options, OPTIONS);
  const { samples } = trace;
  const { time, count, interval } = samples;
  const { start, stop } = sampledTime(trace);
  const seconds = new Float64Array(bins);
  if (start > stop) return { start: 0, step: 0, seconds };
  const step = (stop - start) / bins;
  const isWanted = filterOf(trace, options);
  for (let row = 0; row < samples.length; row++) {
    if (!isWanted(row)) continue;
    const bin = step === 0 ? 0 : Math.min(bins - 1, Math.floor((time[row]! - start) / step));
    seconds[bin]! += count[row]! * interval[row]!;
  }
  return { start, step, seconds };
}

/** Returns the times of the first and of the last sample; Infinity and -Infinity without samples. */
export function sampledTime({ samples: { time } }: Trace): { start: number; stop: number } {
  return rangeOf(time);
}

/** Returns the prefixes of tasks with samples, those with most seconds first. */
export function profiledPrefixes(trace: Trace): ProfiledPrefix[] {
  checkArgument('profiledPrefixes(): trace', trace, TRACE);
  const { samples, strings } = trace;
  const sums = new Map<number, { samples: number; seconds: number }>();
  for (const [row, prefix] of samples.prefix.entries()) {
    if (prefix < 0) continue;
    const sum = getOrMake(sums, prefix, () => ({ samples: 0, seconds: 0 }));
    sum.samples += samples.count[row]!;
    sum.seconds += samples.count[row]! * samples.interval[row]!;
  }
  return Array.from(sums, ([prefix, sum]) => ({ prefix: strings.get(prefix), ...sum })).sort(
    (a, b) => b.seconds - a.seconds,
  );
}

/** Returns the mean seconds for which a sample stands; 0.01 without samples. */
export function samplingInterval(trace: Trace): number {
  checkArgument('samplingInterval(): trace', trace, TRACE);
  const { count, interval } = trace.samples;
  let [seconds, total] = [0, 0];
  for (const [row, one] of count.entries()) {
    total += one;
    seconds += one * interval[row]!;
  }
  return total === 0 ? 0.01 : seconds / total;
}

function filterOf(
  trace: Trace,
  { key, span, task, start, stop, workers, scheduler = false, all = false }: ProfileTreeOptions,
): (row: number) => boolean {
  const { samples, strings } = trace;
  const prefixes = key === undefined ? undefined : idsWhere(samples.prefix, strings, (text) => text === key);
  // Every sample is in a span that begins with no names.
  const name = span?.length === 0 ? undefined : span?.join('/');
  const spans =
    name === undefined
      ? undefined
      : idsWhere(samples.span, strings, (text) => text === name || text.startsWith(`${name}/`));
  const wanted = workers === undefined ? undefined : workerRows(trace, workers);
  const from = start ?? Number.NEGATIVE_INFINITY;
  const to = stop ?? Number.POSITIVE_INFINITY;
  const anything = all || scheduler;
  return (row) => {
    const worker = samples.worker[row]!;
    const time = samples.time[row]!;
    if (worker < 0 !== scheduler || time < from || time >= to) return false;
    if (wanted !== undefined && !scheduler && !wanted.has(worker)) return false;
    if (prefixes !== undefined && !prefixes.has(samples.prefix[row]!)) return false;
    if (task !== undefined && samples.task[row] !== task) return false;
    if (spans !== undefined && !spans.has(samples.span[row]!)) return false;
    return anything || samples.prefix[row]! >= 0 || !isRuntime(trace, samples.frame[row]!);
  };
}

/** Returns true for code of Longpole or Node outside tasks. */
function isRuntime({ frames, strings }: Trace, frame: number): boolean {
  return (
    frame >= 0 && frames.parent[frame]! < 0 && textOf(strings, frames.functionName[frame]!) === '(runtime)'
  );
}

function idsWhere(
  column: Int32Array,
  strings: Trace['strings'],
  isWanted: (text: string) => boolean,
): Set<number> {
  return new Set([...new Set(column)].filter((id) => id >= 0 && isWanted(strings.get(id))));
}

function workerRows({ workers, strings }: Trace, wanted: readonly (string | number)[]): Set<number> {
  const rows = new Set<number>();
  for (let row = 0; row < workers.length; row++) {
    const [name, address] = [textOf(strings, workers.name[row]!), textOf(strings, workers.address[row]!)];
    if (wanted.includes(row) || wanted.includes(name) || wanted.includes(address)) rows.add(row);
  }
  return rows;
}
