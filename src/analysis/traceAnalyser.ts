// DASF's TraceAnalyser: a trace and the questions that its tables answer. Each question is a file of its own beside this.
import { LongpoleError } from '../base/errors.js';
import { type EventDatabase, traceOf } from '../trace/eventDatabase.js';
import type { Trace } from '../trace/trace.js';
import { type AnnotatedTaskGraph, annotatedTaskGraph } from './annotatedTaskGraph.js';
import { dasfFunctionBottleneck, dasfTaskBottleneck } from './dasfCompat.js';
import { dasfTaskBalance } from './dasfTaskBalance.js';
import { functionBottleneck } from './functionBottleneck.js';
import type { Table } from './table.js';
import { type TaskBalanceOptions, taskBalance } from './taskBalance.js';
import { taskBottleneck } from './taskBottleneck.js';

export interface TraceAnalyserOptions {
  /** `dasf`: the tables exactly as DASF computes them, with its mistakes. Default: right. */
  readonly compat?: 'dasf';
}

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

function checkGiven(source: unknown, { compat }: TraceAnalyserOptions): void {
  const isSource =
    typeof source === 'object' && source !== null && ('getTraces' in source || 'tasks' in source);
  const code = 'ERR_LONGPOLE_INVALID_ARGUMENT';
  if (!isSource)
    throw new LongpoleError(
      code,
      `TraceAnalyser takes a trace or a database of events, not ${String(source)}. Open files with openTrace() or EventProfiler.`,
    );
  if (compat !== undefined && compat !== 'dasf')
    throw new LongpoleError(code, `compat: expected 'dasf' or nothing, not ${String(compat)}.`);
}
