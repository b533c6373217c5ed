// Processes that Linux ends because the machine, or the container, has no memory left.
import { NO_MEMORY } from '../protocol/eventTopics.js';
import { controlGroups, readText } from './containerLimits.js';

/** Number of these processes so far. */
export interface OomKills {
  /** NaN if unknown. */
  readonly count: number;
  /** False if the system counts only those of the whole machine, also of other containers. */
  readonly isOfGroup: boolean;
}

/**
 * Counts the processes in the control group of this process. Their memory may have reached a limit, or that of the machine.
 *
 * @param read returns the content of a file; empty if there is none
 * @source `memory.events` of cgroups version 2, `memory.oom_control` of version 1, `/proc/vmstat` without groups
 */
export function oomKills(read = readText): OomKills {
  for (const { folder, isFirst } of controlGroups('memory', read)) {
    const count = killsIn(read(`${folder}/${isFirst ? 'memory.oom_control' : 'memory.events'}`));
    if (!Number.isNaN(count)) return { count, isOfGroup: true };
  }
  return { count: killsIn(read('/proc/vmstat')), isOfGroup: false };
}

function killsIn(text: string): number {
  return Number(/^oom_kill (\d+)$/m.exec(text)?.[1] ?? Number.NaN);
}

/**
 * Returns the reason why a signal ended a process, to be appended; empty if unknown.
 *
 * @param before count when the process started
 */
export function killReason(signal: NodeJS.Signals | null, before: OomKills, now = oomKills): string {
  const { count, isOfGroup } = now();
  if (signal !== 'SIGKILL' || !(count > before.count)) return '';
  return isOfGroup ? ` because ${NO_MEMORY}` : ` probably because ${NO_MEMORY}`;
}
