// Processes that Linux ends because the machine, or the container, has no memory left.
import { NO_MEMORY } from '../protocol/eventTopics.js';
import { readProc } from './processTree.js';

/** Returns the number of these processes since the start of the machine; NaN if unknown. */
export function oomKills(): number {
  return parseOomKills(readProc('vmstat') ?? '');
}

export function parseOomKills(vmstat: string): number {
  return Number(/^oom_kill (\d+)$/m.exec(vmstat)?.[1] ?? Number.NaN);
}

/**
 * Returns the reason why a signal ended a process, to be appended; empty if unknown.
 *
 * @param before number of these processes when the process started
 */
export function killReason(
  signal: NodeJS.Signals | null,
  before: number,
  now: () => number = oomKills,
): string {
  return signal === 'SIGKILL' && now() > before ? ` because ${NO_MEMORY}` : '';
}
