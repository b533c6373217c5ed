// The processes of a round, as Linux tells it: all that inherited the round's mark in their environment, whoever started
// them. Without /proc there are none to be seen.
import { readdirSync, readFileSync } from 'node:fs';

/** The variable of the environment that marks the processes of a round. */
export const MARK = 'LONGPOLE_SOAK_ROUND';

export interface RoundProcess {
  readonly pid: number;
  readonly command: string;
  /** Bytes in memory, now and at most. */
  readonly rss: number;
  readonly peak: number;
}

/** Processes with this mark. One that has ended and was not waited for has no environment, so it is not among them. */
export function processesOf(mark: string): RoundProcess[] {
  return pids().flatMap((pid) => {
    if (!textOf(pid, 'environ').split('\0').includes(`${MARK}=${mark}`)) return [];
    const status = textOf(pid, 'status');
    const command = textOf(pid, 'cmdline').split('\0').join(' ').trim();
    return [{ pid, command, rss: bytesOf(status, 'VmRSS'), peak: bytesOf(status, 'VmHWM') }];
  });
}

/** Bytes in memory of a process at most; 0: it is gone. */
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

/** Ends a process, whether it is there or not. */
export function killProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
