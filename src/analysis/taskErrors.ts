// Finds the errors of failed runs in the events of a trace.
import { checkArgument, TRACE } from '../base/arguments.js';
import { rowsWhere } from '../base/groups.js';
import { countsOf, oncePer, sumOf } from '../base/lookUps.js';
import { TASK_ERRED, TASK_LOST } from '../protocol/clusterObserver.js';
import { TASK_FAILED } from '../protocol/eventTopics.js';
import { eventsOf, type Trace, workerName } from '../trace/trace.js';
import { diedTasks, exceededTimeouts } from './diedTasks.js';
import { knownAt, repeatedCount, repeatedRuns } from './submissionTimes.js';

/** Seconds between the report of a failed run and the event with its error. */
const TOGETHER = 1;
const MAX_TASKS = 20;
/** Largest number of characters of an error. */
const MAX_ERROR = 120;

/** A task that failed and did not run again, also one of which each run ended with its worker. */
export interface FailedTask {
  readonly key: string;
  /** Name of its worker. */
  readonly worker: string;
  /** First line of its error; empty if the trace does not have it. */
  readonly error: string;
}

/** Returns these tasks, at most 20, in the order of their ends. */
export function failedTasks(trace: Trace): FailedTask[] {
  checkArgument('failedTasks(): trace', trace, TRACE);
  const { tasks } = trace;
  return [...failedRows(trace)]
    .sort((a, b) => knownAt(trace, a) - knownAt(trace, b))
    .slice(0, MAX_TASKS)
    .map((row) => ({
      key: tasks.keyOf(row),
      worker: workerName(trace, tasks.worker[row]!),
      error: errorOf(trace, row),
    }));
}

/** Returns the rows of the last runs of these tasks. Computed once per trace. */
export const failedRows = oncePer((trace: Trace): ReadonlySet<number> => {
  const { tasks, totals } = trace;
  const rows = new Set(deadRows(trace));
  if (totals.states[TASK_ERRED] === 0) return rows;
  const repeated = new Set(repeatedRuns(trace));
  for (let row = 0; row < tasks.length; row++)
    if (tasks.state[row] === TASK_ERRED && !repeated.has(row)) rows.add(row);
  return rows;
});

/** Returns the number of these tasks. */
export function failedTaskCount(trace: Trace): number {
  checkArgument('failedTaskCount(): trace', trace, TRACE);
  const erred = trace.totals.states[TASK_ERRED] ?? 0;
  return erred - (erred === 0 ? 0 : repeatedCount(trace)) + deadRows(trace).length;
}

/** Returns the number of runs that ended with their worker, without those that ended because the task exceeded its timeout. */
export function lostRunCount(trace: Trace): number {
  checkArgument('lostRunCount(): trace', trace, TRACE);
  const { tasks, totals } = trace;
  const lost = totals.states[TASK_LOST] ?? 0;
  const exceeded = countsOf(exceededTimeouts(trace).map(({ key }) => key));
  if (lost === 0 || exceeded.size === 0) return lost;
  const rows = rowsWhere(tasks.length, (row) => tasks.state[row] === TASK_LOST);
  const runs = countsOf(Array.from(rows, (row) => tasks.keyOf(row)));
  return lost - sumOf(exceeded, ([key, count]) => Math.min(count, runs.get(key) ?? 0));
}

/** Returns the last runs of the tasks that failed because their runs ended with their workers. */
export function deadRows(trace: Trace): number[] {
  const died = diedTasks(trace);
  if (died.length === 0) return [];
  const failed = new Set(
    Array.from(eventsOf(trace, TASK_FAILED), ({ text }) => /^Task '(.*?)' \(/.exec(text)?.[1]),
  );
  // The others were cut off, e.g. when the program ended.
  return died.map(({ row }) => row).filter((row) => failed.has(trace.tasks.keyOf(row)));
}

/** Returns the first line of the error of a failed run, without the task; empty if the trace does not have it. */
export function errorOf(trace: Trace, row: number): string {
  const start = `Task '${trace.tasks.keyOf(row)}' `;
  let [found, nearest] = ['', TOGETHER];
  for (const { time, text } of eventsOf(trace, TASK_FAILED)) {
    const distance = Math.abs(time - knownAt(trace, row));
    // The distance is NaN for a run that ended with its worker.
    if (!(distance >= nearest) && text.startsWith(start)) [found, nearest] = [text, distance];
  }
  const [line = ''] = found
    .slice(start.length)
    .replace(/^\(.*?\) (failed\. )?/, '')
    .split('\n');
  return line.length > MAX_ERROR ? `${line.slice(0, MAX_ERROR - 1)}…` : line;
}
