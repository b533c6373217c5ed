// DASF's TraceAnalyser, which answers questions about a trace with tables. Each question has its own file in this
// folder.
import { checkOptions, type OptionKinds, oneOf } from '../base/arguments.js';
import { invalidArgument } from '../base/errors.js';
import { getOrMake } from '../base/lookUps.js';
import { sortedOrder } from '../base/sortedOrder.js';
import { type EventDatabase, traceOf } from '../trace/eventDatabase.js';
import { type Trace, textOf } from '../trace/trace.js';
import { type AnnotatedTaskGraph, annotatedTaskGraph } from './annotatedTaskGraph.js';
import { functionBottleneck, taskBottleneck } from './bottlenecks.js';
import { dasfFunctionBottleneck, dasfTaskBottleneck } from './dasfCompat.js';
import { type Column, Table } from './table.js';
import { INTERVAL_TITLE, type TaskBalanceOptions, taskBalance } from './taskBalance.js';

export interface TraceAnalyserOptions {
  /** `dasf` for tables exactly as DASF computes them, with DASF's errors. Default: correct tables. */
  readonly compat?: 'dasf';
}

const OPTIONS: OptionKinds<TraceAnalyserOptions> = { compat: oneOf(['dasf']) };

/**
 * Answers DASF's questions about a trace. The constructor reads a database once. Throws ERR_LONGPOLE_INVALID_ARGUMENT
 * if the source is neither a trace nor a database.
 *
 * @source DASF, `TraceAnalyser`
 */
export class TraceAnalyser {
  /** Analysed trace; `trace.damage` lists unreadable parts. */
  readonly trace: Trace;
  readonly #compat: boolean;

  constructor(source: EventDatabase | Trace, options: TraceAnalyserOptions = {}) {
    checkGiven(source, options);
    this.trace = 'getTraces' in source ? traceOf(source) : source;
    this.#compat = options.compat === 'dasf';
  }

  /** Returns one row per key, with the size of its inputs and its throughput; see `annotatedTaskGraph`. */
  createAnnotatedTaskGraph(): AnnotatedTaskGraph {
    return annotatedTaskGraph(this.trace);
  }

  /** Returns functions by the seconds of their tasks on each host and device; see `functionBottleneck`. */
  perFunctionBottleneck(): Table {
    return this.#compat ? dasfFunctionBottleneck(this.trace) : functionBottleneck(this.trace);
  }

  /** Returns tasks by their seconds; see `taskBottleneck`. */
  perTaskBottleneck(): Table {
    return this.#compat ? dasfTaskBottleneck(this.trace) : taskBottleneck(this.trace);
  }

  /**
   * Returns the results in the memory of each worker over time; see `taskBalance`. With `compat`, the interval is 1 s.
   */
  perWorkerTaskBalance(options: TaskBalanceOptions = {}): Table {
    return this.#compat ? dasfTaskBalance(this.trace) : taskBalance(this.trace, options);
  }
}

function checkGiven(source: unknown, options: TraceAnalyserOptions): void {
  checkOptions('TraceAnalyser', options, OPTIONS);
  const isSource =
    typeof source === 'object' && source !== null && ('getTraces' in source || 'tasks' in source);
  if (!isSource)
    throw invalidArgument(
      `TraceAnalyser takes a trace or a database of events, not ${String(source)}. Open files with openTrace() or EventProfiler.`,
    );
}

/**
 * Returns DASF's `per_worker_task_balance`: the last count in each second of the recorder's clock, without seconds that
 * have no events, and with 0 for workers without an event. Rows are numbered as pandas does.
 */
function dasfTaskBalance(trace: Trace): Table {
  const seconds = lastCounts(trace);
  const times = [...seconds.keys()].sort((a, b) => a - b);
  const begin = times[0] ?? 0;
  const workers = [...new Set(times.flatMap((time) => [...(seconds.get(time)?.keys() ?? [])]))];
  // pandas numbers the rows by worker: those of the first worker, then the additional rows of the second, and so on.
  const numbered = [
    ...new Set(workers.flatMap((worker) => times.filter((time) => seconds.get(time)?.has(worker)))),
  ];
  const columns: Column[] = workers.map((worker) => {
    const counts = numbered.map((time) => seconds.get(time)?.get(worker));
    return {
      title: textOf(trace.strings, worker),
      numbers: Float64Array.from(counts, (count) => count ?? 0),
      // pandas makes a column with missing values a column of floats.
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

/** Returns the last count in the file, by second and name of the worker. */
function lastCounts({ memory, workers }: Trace): Map<number, Map<number, number>> {
  const seconds = new Map<number, Map<number, number>>();
  for (let row = 0; row < memory.length; row++) {
    const second = Math.trunc(memory.time[row]!);
    const counts = getOrMake(seconds, second, () => new Map());
    const worker = memory.worker[row]!;
    counts.set(worker < 0 ? -1 : workers.name[worker]!, memory.tasks[row]!);
  }
  return seconds;
}
