// Finds the errors of failed runs in the events of a trace.
import { checkArgument, TRACE } from '../base/arguments.js';
import { TASK_ERRED } from '../protocol/clusterObserver.js';
import { TASK_FAILED } from '../protocol/eventTopics.js';
import { type Trace, workerName } from '../trace/trace.js';
import { diedTasks } from './diedTasks.js';
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
  const { tasks, totals } = trace;
  const rows = deadRows(trace);
  if (totals.states[TASK_ERRED] !== 0) {
    const repeated = new Set(repeatedRuns(trace));
    for (let row = 0; row < tasks.length; row++)
      if (tasks.state[row] === TASK_ERRED && !repeated.has(row)) rows.push(row);
  }
  return rows
    .sort((a, b) => knownAt(trace, a) - knownAt(trace, b))
    .slice(0, MAX_TASKS)
    .map((row) => ({
      key: tasks.keyOf(row),
      worker: workerName(trace, tasks.worker[row]!),
      error: errorOf(trace, row),
    }));
}

/** Returns the number of these tasks. */
export function failedTaskCount(trace: Trace): number {
  checkArgument('failedTaskCount(): trace', trace, TRACE);
  const erred = trace.totals.states[TASK_ERRED] ?? 0;
  return erred - (erred === 0 ? 0 : repeatedCount(trace)) + deadRows(trace).length;
}

/** Returns the last runs of the tasks that failed because their runs ended with their workers. */
export function deadRows(trace: Trace): number[] {
  const { events, strings, tasks } = trace;
  const died = diedTasks(trace);
  if (died.length === 0) return [];
  const failed = new Set<string | undefined>();
  for (const [event, topic] of events.topic.entries())
    if (strings.get(topic) === TASK_FAILED)
      failed.add(/^Task '(.*?)' \(/.exec(strings.get(events.text[event]!))?.[1]);
  // The others were cut off, e.g. when the program ended.
  return died.map(({ row }) => row).filter((row) => failed.has(tasks.keyOf(row)));
}

/** Returns the first line of the error of a failed run, without the task; empty if the trace does not have it. */
export function errorOf(trace: Trace, row: number): string {
  const { events, strings, tasks } = trace;
  const start = `Task '${tasks.keyOf(row)}' `;
  let [found, nearest] = ['', TOGETHER];
  for (let event = 0; event < events.length; event++) {
    const distance = Math.abs(events.time[event]! - knownAt(trace, row));
    if (distance >= nearest || strings.get(events.topic[event]!) !== TASK_FAILED) continue;
    const text = strings.get(events.text[event]!);
    if (text.startsWith(start)) [found, nearest] = [text, distance];
  }
  const [line = ''] = found
    .slice(start.length)
    .replace(/^\(.*?\) (failed\. )?/, '')
    .split('\n');
  return line.length > MAX_ERROR ? `${line.slice(0, MAX_ERROR - 1)}…` : line;
}
