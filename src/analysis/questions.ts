// The list of named questions about a trace, which the command line, reports and the dashboard use. Each question has
// its own file in this folder.
import type { Trace } from '../trace/trace.js';
import { concurrency } from './concurrency.js';
import { criticalPath } from './criticalPath.js';
import { findings, findingsTable } from './findings/findings.js';
import { functionBottleneck } from './functionBottleneck.js';
import { memoryByPrefix } from './memoryByPrefix.js';
import { queueing } from './queueing.js';
import { speedups, speedupsTable } from './speedups.js';
import { stragglers } from './stragglers.js';
import type { Table } from './table.js';
import { fittingTaskBalance } from './taskBalance.js';
import { taskBottleneck } from './taskBottleneck.js';
import { timeByAction } from './timeByAction.js';
import { timeByPrefix } from './timeByPrefix.js';
import { transfersByPair, transfersByType } from './transferTables.js';
import { workerBalance } from './workerBalance.js';

export interface Question {
  /** Lower-case words joined by dashes. A published name never changes. */
  readonly name: string;
  /** Heading of the table. */
  readonly title: string;
  /** Returns the answer, a pure function of the trace; a table without rows if the trace lacks the needed data. */
  run(trace: Trace): Table;
}

/** All questions, in the order in which they are answered by default. */
export const QUESTIONS: readonly Question[] = [
  {
    name: 'function-bottleneck',
    title: 'Functions by the seconds their tasks took',
    run: functionBottleneck,
  },
  {
    name: 'task-bottleneck',
    title: 'Tasks by the seconds they took',
    run: taskBottleneck,
  },
  {
    name: 'task-balance',
    title: 'Results in the memory of each worker, second by second',
    run: fittingTaskBalance,
  },
  {
    name: 'findings',
    title: 'What cost most, and what to try',
    run: (trace) => findingsTable(findings(trace)),
  },
  {
    name: 'critical-path',
    title: 'What the run was waiting for: the critical path by kind and prefix',
    run: (trace) => criticalPath(trace).summary(),
  },
  { name: 'time-by-prefix', title: 'Prefixes by the seconds their tasks computed', run: timeByPrefix },
  { name: 'time-by-action', title: 'What workers did with their time', run: timeByAction },
  { name: 'queueing', title: 'Where tasks wait, median seconds by prefix', run: queueing },
  { name: 'worker-balance', title: 'What each thread had to do', run: workerBalance },
  { name: 'stragglers', title: 'Tasks far above the median of their prefix', run: stragglers },
  {
    name: 'speedups',
    title: 'What if the tasks of a prefix took half as long',
    run: (trace) => speedupsTable(speedups(trace)),
  },
  { name: 'transfers-by-pair', title: 'Bytes moved between workers', run: transfersByPair },
  { name: 'transfers-by-type', title: 'Bytes moved by type of result', run: transfersByType },
  {
    name: 'memory-by-prefix',
    title: 'Results that tasks need over time, by prefix, and results that are kept',
    run: memoryByPrefix,
  },
  { name: 'concurrency', title: 'Tasks that ran at the same time', run: concurrency },
];
