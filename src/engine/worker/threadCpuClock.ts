// The CPU time of this thread. The system's clock is exact to a microsecond; Node's has steps of milliseconds.

import { numberIn } from '../../base/json.js';
import { openLibrary } from '../../resources/nativeLibrary.js';

/** Returns the seconds of CPU time that this thread has used. */
export type ThreadCpuClock = () => number;

/** Id of the calling thread's CPU clock for `clock_gettime`. */
const CLOCK_THREAD_CPUTIME_ID: Partial<Record<NodeJS.Platform, number>> = {
  linux: 3,
  android: 3,
  darwin: 16,
};

/**
 * Returns the best available clock: the system's through koffi (0.6 µs a reading), else Node's from 22 on (0.4 µs, in
 * steps of milliseconds, so only sums are right), else undefined. Loading koffi takes 1 ms.
 */
export function threadCpuClock(): ThreadCpuClock | undefined {
  return systemClock() ?? nodeClock();
}

function systemClock(): ThreadCpuClock | undefined {
  const id = CLOCK_THREAD_CPUTIME_ID[process.platform];
  if (id === undefined) return undefined;
  // An array instead of a struct halves the cost.
  const gettime = openLibrary([null], (library) =>
    library.func('clock_gettime', 'int', ['int', 'int64_t *']),
  );
  if (gettime === undefined) return undefined;
  const time = new BigInt64Array(2);
  const read: ThreadCpuClock = () => {
    gettime(id, time);
    return Number(time[0]) + Number(time[1]) / 1e9;
  };
  return gettime(id, time) === 0 ? read : undefined;
}

function nodeClock(): ThreadCpuClock | undefined {
  if (!('threadCpuUsage' in process) || typeof process.threadCpuUsage !== 'function') return undefined;
  const { threadCpuUsage } = process;
  return () => {
    const usage: unknown = threadCpuUsage.call(process);
    return (numberIn(usage, 'user') + numberIn(usage, 'system')) / 1e6;
  };
}
