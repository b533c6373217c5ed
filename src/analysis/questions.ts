// The list of named questions about a trace, which the command line, reports and the dashboard use. Each question has
// its own file in this folder.
import type { Trace } from '../trace/trace.js';
import { functionBottleneck, taskBottleneck } from './bottlenecks.js';
import { concurrency } from './concurrency.js';
import { criticalPath } from './criticalPath.js';
import { findings, findingsTable } from './findings/findings.js';
import { memoryByPrefix } from './memoryByPrefix.js';
import { queueing } from './queueing.js';
import { speedups, speedupsTable } from './speedups.js';
import { stragglers } from './stragglers.js';
import type { Table } from './table.js';
import { fittingTaskBalance } from './taskBalance.js';
import { timeByAction, timeByPrefix } from './timeTables.js';
import { transfersByPair, transfersByType } from './transferTables.js';
import { workerBalance } from './workerBalance.js';

export interface Question {
  /** Lower-case words joined by dashes. A published name never changes. */
  readonly name: string;
  /** Heading of the table. */
  readonly title: string;
  /** Returns the answer, a pure function of the trace; a table without rows if the trace lacks the needed data. */
  run(trace: Trace): Table;
  /** Returns the table with the values that it shows, if they say more to a program than its rows. */
  runWithResult?(trace: Trace): { readonly table: Table; readonly result: object };
}

/** Returns a question whose table shows a result that other functions of `longpole/analysis` return. */
function resultQuestion<R extends object>(
  name: string,
  title: string,
  resultOf: (trace: Trace) => R,
  tableOf: (result: R) => Table,
): Question {
  return {
    name,
    title,
    run: (trace) => tableOf(resultOf(trace)),
    runWithResult: (trace) => {
      const result = resultOf(trace);
      return { table: tableOf(result), result };
    },
  };
}

/** All questions, in the order in which they are answered by default. */
export const QUESTIONS: readonly Question[] = [
  {
    name: 'function-bottleneck',
    title: 'Functions by the seconds of their tasks',
    run: functionBottleneck,
  },
  {
    name: 'task-bottleneck',
    title: 'Tasks by their seconds',
    run: taskBottleneck,
  },
  {
    name: 'task-balance',
    title: 'Results in the memory of each worker, second by second',
    run: fittingTaskBalance,
  },
  resultQuestion('findings', 'Problems by their cost, with advice', findings, findingsTable),
  resultQuestion(
    'critical-path',
    'The critical path by kind and prefix',
    (trace) => criticalPath(trace),
    (path) => path.summary(),
  ),
  { name: 'time-by-prefix', title: 'Prefixes by the seconds of their tasks', run: timeByPrefix },
  { name: 'time-by-action', title: 'The time of workers by action', run: timeByAction },
  { name: 'queueing', title: 'Waits of tasks, median seconds by prefix', run: queueing },
  { name: 'worker-balance', title: 'Busy and idle seconds of each thread', run: workerBalance },
  { name: 'stragglers', title: 'Tasks far above the median of their prefix', run: stragglers },
  {
    name: 'speedups',
    title: 'Speedup if the tasks of a prefix took half as long',
    run: (trace) => speedupsTable(speedups(trace)),
  },
  { name: 'transfers-by-pair', title: 'Bytes transferred between workers', run: transfersByPair },
  { name: 'transfers-by-type', title: 'Bytes transferred by type of result', run: transfersByType },
  {
    name: 'memory-by-prefix',
    title: 'Memory of results over time by prefix',
    run: memoryByPrefix,
  },
  { name: 'concurrency', title: 'Concurrent tasks over time', run: concurrency },
];
