// Texts of events about tasks that had not ended when a program, or an observation of a Dask cluster, ended.
import { countsOf } from '../base/lookUps.js';
import { countText, integerText, secondsText } from '../base/words.js';

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

export interface UnfinishedTasks {
  readonly begun: readonly BegunTask[];
  /** Prefixes of the tasks that could run and have not begun. */
  readonly others: readonly string[];
  /** Number of tasks that wait for other tasks, if these are not among `others`. */
  readonly waiting?: number;
}

/** @param what what ended, e.g. `program` */
export function unfinishedText({ begun, others, waiting = 0 }: UnfinishedTasks, what: string): string {
  const counts = Array.from(countsOf(others), ([prefix, count]) => ({ prefix, count }));
  const parts = [
    begun.length === 0 ? [] : [`${integerText(begun.length)} ran (${begunText(begun)})`],
    others.length === 0 ? [] : [`${integerText(others.length)} had not started (${countsText(counts)})`],
    waiting === 0 ? [] : [`${integerText(waiting)} waited for other tasks`],
  ];
  const total = countText(begun.length + others.length + waiting, 'task');
  return `${total} had not ended when the ${what} ended: ${parts.flat().join(', ')}.`;
}

export function countsText(all: readonly { readonly prefix: string; readonly count: number }[]): string {
  return listText(all.map(({ prefix, count }) => `${integerText(count)} ${prefix}`));
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
