// Reads the counters of one process. Other processes are visible on Linux only; NaN stands for unknown.
import type { CpuClock } from './cpuClock.js';
import { processRss } from './processRss.js';
import { TICKS_PER_SECOND } from './processTree.js';
import { openDescriptors, rereadProc, residentBytes } from './procFile.js';

export interface ProcessCounters {
  /** CPU seconds of all threads since the process began. */
  readonly cpu: number;
  /** CPU seconds of its child processes that have ended, and of theirs. */
  readonly children: number;
  /** Resident bytes. */
  readonly rss: number;
  /** Open file descriptors. */
  readonly descriptors: number;
  /** Bytes that the process has read from and written to disks. */
  readonly read: number;
  readonly written: number;
}

/** Reads all counters. Cost: some 0.1 ms. */
export function processCounters(pid: number, clock: CpuClock): ProcessCounters {
  const [read, written] = diskBytes(`${pid}`);
  return {
    cpu: clock.process(pid),
    children: parseChildren(rereadProc(`${pid}/stat`)),
    rss: process.platform !== 'linux' && pid === process.pid ? processRss() : residentBytes(pid),
    descriptors: openDescriptors(pid),
    read,
    written,
  };
}

/** Returns the CPU seconds of ended child processes from `/proc/PID/stat`; NaN if the process has ended. */
export function parseChildren(text: string): number {
  // The name of the program, in parentheses, may contain spaces. After it come the state and numbers.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [user = Number.NaN, system = Number.NaN] = fields.slice(13, 15).map(Number);
  return (user + system) / TICKS_PER_SECOND;
}

/** Returns the bytes that a process or thread (`4711`, `4711/task/4720`) has read from and written to disks. */
export function diskBytes(path: string): readonly [read: number, written: number] {
  return parseIo(rereadProc(`${path}/io`));
}

export function parseIo(text: string): readonly [read: number, written: number] {
  const [, read = Number.NaN, written = Number.NaN] =
    /^read_bytes: (\d+)\nwrite_bytes: (\d+)$/m.exec(text) ?? [];
  return [Number(read), Number(written)];
}

/** Seconds since the start of a thread; NaN if unknown. */
export interface CoreTimes {
  /** Seconds on a core. */
  readonly used: number;
  /** Seconds in which the thread was ready to run but had no core. A wait counts once it has ended. */
  readonly waited: number;
}

/** Returns the times of a thread; unknown on systems other than Linux, and once the thread has ended. */
export function coreTimes(pid: number, tid: number): CoreTimes {
  // The fields are nanoseconds on a core, nanoseconds in the run queue, and the number of times on a core.
  const text = tid > 0 ? rereadProc(`${pid}/task/${tid}/schedstat`) : '';
  const [used = Number.NaN, waited = Number.NaN, turns = 0] = text.split(' ').map(Number);
  return turns > 0 ? { used: used / 1e9, waited: waited / 1e9 } : { used: Number.NaN, waited: Number.NaN };
}
