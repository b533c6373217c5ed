// Topics of events that analyses find again in a trace, and the texts of events about work stealing and cut-off tasks.
import { countsOf } from '../base/lookUps.js';
import { countText, integerText, secondsText } from '../base/words.js';

/** A worker without work took tasks of another worker. As in Dask. */
export const STEALING = 'stealing';
/** A run of a task failed. The text is the error, which begins with the task. */
export const TASK_FAILED = 'task-erred';
/** The process of the program that `longpole run` records started, and is about to end. */
export const PROGRAM = { begin: 'program-started', end: 'program-ended' } as const;
/** The program began to start a cluster or to connect to one, and its first workers were up. */
export const CLUSTER = { begin: 'cluster-starting', end: 'cluster-started' } as const;
/** Tasks had not ended when their client or cluster closed, or when the program ended. */
export const TASKS_CUT_OFF = 'tasks-cut-off';
/** The worker has ended, or its connection, before it handed over its results. */
export const WORKER_LOST = 'worker-lost';
/** Beginning of the text of WORKER_LOST if all workers are lost, because the scheduler of their Dask cluster does not answer. */
export const CONNECTION_LOST = 'The connection to the cluster at ';
/** Part of the text of WORKER_LOST if a Dask worker does not answer, or is no longer listed. See python/longpole_dask/run_bridge.py. */
export const NO_ANSWER = 'has left: it does not answer';
/** Beginning of the reason if a Dask worker ended, because its memory was full. See python/longpole_dask/roster_tap.py. */
export const EXHAUSTED = 'its nanny ended it, because it used ';
/** End of the reason if the system killed a process. */
export const NO_MEMORY = 'the machine or its container had no memory left';
/** A result could not be fetched: no connection to its worker could be opened, or it never answered on one. */
export const UNREACHABLE = 'unreachable';
/** The thread of a worker has ended, and another one took its place. The results of the worker remain. */
export const WORKER_RESTARTED = 'worker-restarted';
/** Dask's `client.restart()` began to replace all workers. */
export const CLUSTER_RESTARTED = 'restart';
/** The memory of a worker's process is short, and no longer short. */
export const WORKER_PAUSED = { begin: 'worker-paused', end: 'worker-unpaused' } as const;
/** A worker of threads has no room for results, and has room again. */
export const WORKER_FULL = { begin: 'worker-full', end: 'worker-has-room' } as const;

/**
 * The event loop of a worker process was blocked until the time of the event: that of a Dask worker (see
 * python/longpole_dask/worker_tap.py), or that of a worker process beside its tasks, e.g. because the process was stopped.
 */
export const WORKER_BLOCKED = 'log-blocked';
const BLOCKED = / was blocked for ([\d.]+) s\.$/;

export function blockedText(seconds: number): string {
  return `The event loop of the worker was blocked for ${seconds.toFixed(3)} s.`;
}

/** Returns the seconds in the text of WORKER_BLOCKED; NaN for another text. */
export function blockedSeconds(text: string): number {
  return Number(BLOCKED.exec(text)?.[1]);
}

interface StolenWork {
  /** Number of tasks. */
  readonly tasks: number;
  /** Expected seconds of the tasks. */
  readonly seconds: number;
  /** Name of the worker for which the tasks were taken; undefined if their worker was paused. */
  readonly thief: string | undefined;
}

export function stealingText({ tasks, seconds, thief }: StolenWork): string {
  const count = `${tasks} ${tasks === 1 ? 'task' : 'tasks'}`;
  return `${count} of expected ${Number(seconds.toPrecision(3))} s to ${thief ?? SCHEDULER}`;
}

const SCHEDULER = 'the scheduler, because the worker is paused';
const TEXT = /^(\d+) tasks? of expected ([\d.e+-]+) s to (.+)$/s;

/** Returns the facts in the text of an event; undefined for another text. */
export function parseStealing(text: string): StolenWork | undefined {
  const found = TEXT.exec(text);
  if (found === null) return undefined;
  const [, tasks, seconds, thief] = found;
  return { tasks: Number(tasks), seconds: Number(seconds), thief: thief === SCHEDULER ? undefined : thief };
}

/** Prefixes and tasks that an event names. */
const MAX_NAMES = 5;

/** A task that has begun and not ended. */
export interface BegunTask {
  readonly key: string;
  readonly worker: string;
  /** Seconds since it began, or since it was sent to its worker if another task of the worker has begun later. */
  readonly seconds: number;
  readonly isExact: boolean;
}

interface UnfinishedTasks {
  readonly begun: readonly BegunTask[];
  /** Prefixes of the tasks that could run and have not begun. */
  readonly others: readonly string[];
  /** Number of tasks that wait for other tasks, if these are not among `others`. */
  readonly waiting?: number;
}

/** @param what what ended, e.g. `program` */
export function unfinishedText({ begun, others, waiting = 0 }: UnfinishedTasks, what: string): string {
  const parts = [
    begun.length === 0 ? [] : [`${integerText(begun.length)} ran (${begunText(begun)})`],
    others.length === 0
      ? []
      : [`${integerText(others.length)} had not started (${countsText(countsOf(others))})`],
    waiting === 0 ? [] : [`${integerText(waiting)} waited for other tasks`],
  ];
  const total = countText(begun.length + others.length + waiting, 'task');
  return `${total} had not ended when the ${what} ended: ${parts.flat().join(', ')}.`;
}

/** @param counts prefix → number of its tasks */
export function countsText(counts: ReadonlyMap<string, number>): string {
  return listText(Array.from(counts, ([prefix, count]) => `${integerText(count)} ${prefix}`));
}

function listText(names: readonly string[]): string {
  return [...names.slice(0, MAX_NAMES), ...(names.length > MAX_NAMES ? ['…'] : [])].join(', ');
}

/** Returns the tasks, those that ran longest first. */
function begunText(begun: readonly BegunTask[]): string {
  const sorted = [...begun].sort((a, b) => b.seconds - a.seconds);
  return listText(
    sorted.map(
      ({ key, worker, seconds, isExact }) =>
        `${key} on ${worker} for ${isExact ? '' : 'up to '}${secondsText(seconds)}`,
    ),
  );
}
