// The limits that control groups of Linux set for this process, e.g. for a container of Docker or Kubernetes.
import { readFileSync } from 'node:fs';
import { availableParallelism, cpus, totalmem } from 'node:os';
import { posix } from 'node:path';
import { attempt } from '../base/errors.js';
import { once } from '../base/lookUps.js';

const MOUNT = '/sys/fs/cgroup';

export interface CpuLimit {
  /** Cores that the group may use on average. May be a fraction. */
  readonly cores: number;
  /** Path of the file that counts the time in which the limit stopped threads. */
  readonly stat: string;
}

/** A control group. `isFirst` is true in version 1 of control groups. */
interface ControlGroup {
  readonly folder: string;
  readonly isFirst: boolean;
}

/**
 * Yields the groups of this process with a controller, each before its parent. Some of the folders may not exist: without a
 * namespace of its own, a container sees only the group at the mount point.
 *
 * @param read returns the content of a file; empty if there is none
 */
export function* controlGroups(controller: string, read = readText): Generator<ControlGroup> {
  for (const [, controllers = '', path = '/'] of read('/proc/self/cgroup').matchAll(/^\d+:([^:]*):(.*)$/gm)) {
    const isFirst = controllers.split(',').includes(controller);
    if (controllers !== '' && !isFirst) continue;
    // In version 1, a controller that shares its folder has a link to it with its name.
    const mount = isFirst ? `${MOUNT}/${controller}` : MOUNT;
    let folder = posix.resolve(mount, `.${path}`);
    for (; folder.startsWith(mount); folder = posix.dirname(folder)) yield { folder, isFirst };
  }
}

/**
 * Returns the lowest CPU limit of the groups of this process; undefined without a limit.
 *
 * @source `cpu.max` of cgroups version 2, `cpu.cfs_quota_us` of version 1
 */
export function readCpuLimit(read = readText): CpuLimit | undefined {
  let lowest: CpuLimit | undefined;
  for (const { folder, isFirst } of controlGroups('cpu', read)) {
    const text = isFirst
      ? `${read(`${folder}/cpu.cfs_quota_us`)} ${read(`${folder}/cpu.cfs_period_us`)}`
      : read(`${folder}/cpu.max`);
    const [quota = Number.NaN, period = Number.NaN] = text.split(/\s+/).filter(Boolean).map(Number);
    const cores = quota / period;
    if (cores > 0 && !(cores >= (lowest?.cores ?? Number.POSITIVE_INFINITY)))
      lowest = { cores, stat: `${folder}/cpu.stat` };
  }
  return lowest;
}

/** The CPU limit of this process, read once. */
export const ownCpuLimit = once(() => (process.platform === 'linux' ? readCpuLimit() : undefined));

/** Returns the seconds in which the limit stopped threads, from `cpu.stat`: a sum over the cores on which they were ready. */
export function parseThrottled(text: string): number {
  const [, name, count] = /^throttled_(usec|time) (\d+)$/m.exec(text) ?? [];
  return Number(count ?? Number.NaN) / (name === 'usec' ? 1e6 : 1e9);
}

/** The cores that this process may use without its CPU limit, which Node's `availableParallelism()` respects from version 22 on. */
export const allowedCores = once((): number => {
  const [, list] = /^Cpus_allowed_list:\s*([\d,-]+)$/m.exec(readText('/proc/self/status')) ?? [];
  // The list may have cores that a virtual machine does not have yet.
  return list === undefined ? availableParallelism() : Math.min(parseCores(list), cpus().length);
});

/** Returns the number of cores in a list such as `0-3,8`. */
export function parseCores(list: string): number {
  const ranges = list.split(',').map((range) => range.split('-').map(Number));
  return ranges.reduce((sum, [first = 0, last = first]) => sum + last - first + 1, 0);
}

/**
 * Returns the number of threads that this process can keep busy: the cores that it may use, and no more than its CPU limit,
 * rounded up.
 *
 * @source Dask, `dask.system.cpu_count`
 */
export function coreCount(): number {
  const limit = ownCpuLimit()?.cores;
  return limit !== undefined && limit < allowedCores()
    ? Math.max(1, Math.ceil(limit))
    : availableParallelism();
}

/** Returns the bytes of memory that this process may use: 90 % of the machine or of its group, or all that is free. */
export function usableMemory(): number {
  // Node returns 0 or a number above the size of the machine if there is no limit.
  const total = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
  return Math.max(total * 0.9, Math.min(total, process.availableMemory()));
}

export function readText(path: string): string {
  return attempt(() => readFileSync(path, 'latin1'), '');
}
