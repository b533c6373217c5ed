// Finds the tasks that have no result because each run ended with its worker.
import { oncePer, pushTo } from '../base/lookUps.js';
import { TASK_LOST } from '../protocol/clusterObserver.js';
import { TASK_FAILED, WORKER_LOST, WORKER_RESTARTED } from '../protocol/eventTopics.js';
import { eventsOf, type Trace, textOf } from '../trace/trace.js';

/** Seconds between the end of a run and the event that reports the loss of its worker. */
const TOGETHER = 1;

/** A task whose last run ended with its worker. */
export interface DiedTask {
  /** Row of its last run. */
  readonly row: number;
  /** Rows of all runs that ended with a worker, also of those before a result that was lost later. */
  readonly lost: readonly number[];
}

/** Returns the tasks whose last run ended with its worker, those with most lost runs first. Computed once per trace. */
export const diedTasks = oncePer(({ tasks }: Trace): readonly DiedTask[] => {
  const lost = new Map<number, number[]>();
  const died = new Set<number>();
  for (let row = 0; row < tasks.length; row++)
    if (tasks.state[row] === TASK_LOST) {
      pushTo(lost, tasks.id[row]!, row);
      died.add(tasks.id[row]!);
    } else if (died.size > 0) died.delete(tasks.id[row]!);
  return Array.from(died, (id) => ({ row: lost.get(id)!.at(-1)!, lost: lost.get(id)! })).sort(
    (a, b) => b.lost.length - a.lost.length,
  );
});

/** Returns why the worker of a lost run ended; empty if the trace does not record it. */
export function reasonOfLoss(trace: Trace, row: number): string {
  const { tasks, workers, strings } = trace;
  const [worker, time] = [tasks.worker[row]!, tasks.acknowledged[row]!];
  let [text, nearest] = ['', TOGETHER];
  for (const event of eventsOf(trace, WORKER_LOST, WORKER_RESTARTED)) {
    const distance = Math.abs(event.time - time);
    if (event.worker === worker && !(distance >= nearest)) [text, nearest] = [event.text, distance];
  }
  if (text !== '' || worker < 0) return text;
  return textOf(strings, workers.reason[worker]);
}

/** A run that was ended because the task exceeded its timeout. */
export interface ExceededTimeout {
  readonly key: string;
  /** Seconds from its start to its end. */
  readonly seconds: number;
  /** Timeout of the task, seconds. */
  readonly timeout: number;
}

/** Matches the error of such a run: its key, its seconds, and the timeout in seconds. */
const MESSAGE = /^Task '(.*)' \(function .*\) was ended after ([\d.]+) s: its timeout is ([\d.e+-]+) s\./;

/** Returns these runs. Computed once per trace. */
export const exceededTimeouts = oncePer((trace: Trace): readonly ExceededTimeout[] =>
  Array.from(eventsOf(trace, TASK_FAILED), ({ text }) => MESSAGE.exec(text) ?? []).flatMap(
    ([, key, seconds, timeout]) =>
      key === undefined ? [] : [{ key, seconds: Number(seconds), timeout: Number(timeout) }],
  ),
);
