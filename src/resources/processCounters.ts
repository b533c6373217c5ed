// What one process uses, at one moment. Other processes than one's own can be looked into on Linux only; NaN stands for
// what is not known.
import type { CpuClock } from './cpuClock.js';
import { openDescriptors, rereadProc, residentBytes } from './procFile.js';

export interface ProcessCounters {
  /** CPU seconds since it began, all its threads. */
  readonly cpu: number;
  /** Resident bytes. */
  readonly rss: number;
  /** Open file descriptors. */
  readonly descriptors: number;
  /** Bytes that it has read from and written to disks. */
  readonly read: number;
  readonly written: number;
}

/** Cost: some 0.1 ms. */
export function processCounters(pid: number, clock: CpuClock): ProcessCounters {
  const cpu = clock.process(pid);
  if (process.platform !== 'linux') {
    const rss = pid === process.pid ? process.memoryUsage.rss() : Number.NaN;
    return { cpu, rss, descriptors: Number.NaN, read: Number.NaN, written: Number.NaN };
  }
  const [read, written] = diskBytes(`${pid}`);
  return {
    cpu,
    rss: residentBytes(pid),
    descriptors: openDescriptors(pid),
    read,
    written,
  };
}

/** Bytes that a process or thread (`4711`, `4711/task/4720`) has read from and written to disks. */
export function diskBytes(path: string): readonly [read: number, written: number] {
  return parseIo(rereadProc(`${path}/io`));
}

export function parseIo(text: string): readonly [read: number, written: number] {
  const [, read = Number.NaN, written = Number.NaN] =
    /^read_bytes: (\d+)\nwrite_bytes: (\d+)$/m.exec(text) ?? [];
  return [Number(read), Number(written)];
}
