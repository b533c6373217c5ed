// DASF's TraceAnalyser: a trace and the questions that its tables answer. Each question is a file of its own beside
// this.
import { checkOptions, type OptionKinds, oneOf } from '../base/arguments.js';
import { LongpoleError } from '../base/errors.js';
import { getOrMake } from '../base/lookUps.js';
import { sortedOrder } from '../base/sortedOrder.js';
import { type EventDatabase, traceOf } from '../trace/eventDatabase.js';
import type { Trace } from '../trace/trace.js';
import { type AnnotatedTaskGraph, annotatedTaskGraph } from './annotatedTaskGraph.js';
import { dasfFunctionBottleneck, dasfTaskBottleneck } from './dasfCompat.js';
import { functionBottleneck } from './functionBottleneck.js';
import { type Column, Table } from './table.js';
import { INTERVAL_TITLE, type TaskBalanceOptions, taskBalance } from './taskBalance.js';
import { taskBottleneck } from './taskBottleneck.js';

export interface TraceAnalyserOptions {
  /** `dasf`: the tables exactly as DASF computes them, with its mistakes. Default: right. */
  readonly compat?: 'dasf';
}

const OPTIONS: OptionKinds<TraceAnalyserOptions> = { compat: oneOf(['dasf']) };

/**
 * Answers DASF's questions about a trace. A database is read when the analyser is made, once.
 *
 * @source DASF, `TraceAnalyser`
 */
export class TraceAnalyser {
  /** The columns that are analysed; `trace.damage` says whether all could be read. */
  readonly trace: Trace;
  readonly #compat: boolean;

  constructor(source: EventDatabase | Trace, options: TraceAnalyserOptions = {}) {
    checkGiven(source, options);
    this.trace = 'getTraces' in source ? traceOf(source) : source;
    this.#compat = options.compat === 'dasf';
  }

  /** One row per key, with what its task was given and how fast it went through it. */
  createAnnotatedTaskGraph(): AnnotatedTaskGraph {
    return annotatedTaskGraph(this.trace);
  }

  /** Functions by the seconds their tasks took on each host and device; see `functionBottleneck`. */
  perFunctionBottleneck(): Table {
    return this.#compat ? dasfFunctionBottleneck(this.trace) : functionBottleneck(this.trace);
  }

  /** Tasks by the seconds they took; see `taskBottleneck`. */
  perTaskBottleneck(): Table {
    return this.#compat ? dasfTaskBottleneck(this.trace) : taskBottleneck(this.trace);
  }

  /** Results in the memory of each worker, second by second; see `taskBalance`. `compat` knows no interval but 1. */
  perWorkerTaskBalance(options: TaskBalanceOptions = {}): Table {
    return this.#compat ? dasfTaskBalance(this.trace) : taskBalance(this.trace, options);
  }
}

function checkGiven(source: unknown, options: TraceAnalyserOptions): void {
  checkOptions('TraceAnalyser', options, OPTIONS);
  const isSource =
    typeof source === 'object' && source !== null && ('getTraces' in source || 'tasks' in source);
  const code = 'ERR_LONGPOLE_INVALID_ARGUMENT';
  if (!isSource)
    throw new LongpoleError(
      code,
      `TraceAnalyser takes a trace or a database of events, not ${String(source)}. Open files with openTrace() or EventProfiler.`,
    );
}

// The balance table as DASF computes it: the last count of each second of the recorder's clock, seconds without events
// left out, 0 for a worker that was silent, and rows numbered in the order in which pandas met them.

/** `per_worker_task_balance`. */
function dasfTaskBalance(trace: Trace): Table {
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
    const counts = getOrMake(seconds, second, () => new Map());
    const worker = memory.worker[row]!;
    counts.set(worker < 0 ? -1 : workers.name[worker]!, memory.tasks[row]!);
  }
  return seconds;
}
