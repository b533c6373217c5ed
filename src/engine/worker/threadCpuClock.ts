// The CPU time of this thread. The system's clock is exact to a microsecond; Node's has steps of milliseconds.

import { enterNative, leaveNative } from '../../resources/nativeGuard.js';

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
 * steps of milliseconds, so only sums are right), else undefined. Loading koffi takes ~10 ms.
 */
export async function threadCpuClock(): Promise<ThreadCpuClock | undefined> {
  return (await systemClock()) ?? nodeClock();
}

async function systemClock(): Promise<ThreadCpuClock | undefined> {
  const id = CLOCK_THREAD_CPUTIME_ID[process.platform];
  if (id === undefined) return undefined;
  if (!enterNative()) return undefined;
  try {
    const { default: koffi } = await import('koffi');
    // An array instead of a struct halves the cost.
    const gettime = koffi.load(null).func('clock_gettime', 'int', ['int', 'int64_t *']);
    const time = new BigInt64Array(2);
    const read: ThreadCpuClock = () => {
      gettime(id, time);
      return Number(time[0]) + Number(time[1]) / 1e9;
    };
    return gettime(id, time) === 0 ? read : undefined;
  } catch {
    // There is no binary for this platform, or native addons are forbidden (`--no-addons`).
    return undefined;
  } finally {
    leaveNative();
  }
}

function nodeClock(): ThreadCpuClock | undefined {
  if (!('threadCpuUsage' in process) || typeof process.threadCpuUsage !== 'function') return undefined;
  const { threadCpuUsage } = process;
  return () => {
    const usage: unknown = threadCpuUsage.call(process);
    return isUsage(usage) ? (usage.user + usage.system) / 1e6 : Number.NaN;
  };
}

function isUsage(value: unknown): value is { user: number; system: number } {
  return (
    typeof value === 'object' &&
    value !== null &&
    'user' in value &&
    typeof value.user === 'number' &&
    'system' in value &&
    typeof value.system === 'number'
  );
}
