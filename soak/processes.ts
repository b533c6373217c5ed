// Finds the processes of a round on Linux: all processes that have inherited the round's mark in their environment.
// Finds none without /proc.
import { readdirSync, readFileSync } from 'node:fs';

/** Environment variable that marks the processes of a round. */
export const MARK = 'LONGPOLE_SOAK_ROUND';

export interface RoundProcess {
  readonly pid: number;
  readonly command: string;
  /** Resident bytes now (`rss`) and at the peak (`peak`). */
  readonly rss: number;
  readonly peak: number;
}

/** Returns the processes with this mark, without zombies, which have no environment. */
export function processesOf(mark: string): RoundProcess[] {
  return pids().flatMap((pid) => {
    if (!textOf(pid, 'environ').split('\0').includes(`${MARK}=${mark}`)) return [];
    const status = textOf(pid, 'status');
    const command = textOf(pid, 'cmdline').split('\0').join(' ').trim();
    return [{ pid, command, rss: bytesOf(status, 'VmRSS'), peak: bytesOf(status, 'VmHWM') }];
  });
}

/** Returns the peak of resident bytes of a process; 0 if it has ended. */
export function peakOf(pid: number): number {
  return bytesOf(textOf(pid, 'status'), 'VmHWM');
}

function pids(): number[] {
  try {
    return readdirSync('/proc')
      .map(Number)
      .filter((number) => number > 0);
  } catch {
    return [];
  }
}

function textOf(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

function bytesOf(status: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s*(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) * 1024;
}

/** Kills a process. Does nothing if it has ended. */
export function killProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
