// Where the threads of a process stand, as Linux tells it: for processes that do not answer.
import { listDirectory, readProc } from './processTree.js';

/** One line per kind of wait, e.g. `7 × S futex_wait_queue`. Empty where there is no /proc, and for a process that is gone. */
export function threadStates(pid: number): string[] {
  const counts = new Map<string, number>();
  for (const task of listDirectory(`/proc/${pid}/task`)) {
    // The name of the command stands in brackets and may have anything in it.
    const state = (readProc(`${pid}/task/${task}/stat`) ?? '').replace(/^.*\) /s, '').slice(0, 1) || '?';
    const place = `${state} ${readProc(`${pid}/task/${task}/wchan`) ?? ''}`.trim();
    counts.set(place, (counts.get(place) ?? 0) + 1);
  }
  return Array.from(counts, ([place, count]) => `${count} × ${place}`);
}

/** The same of all processes of a group, each with the beginning of its command line. */
export function groupStates(group: number): string {
  return listDirectory('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && groupOf(pid) === group)
    .flatMap((pid) => [`${pid} ${commandOf(pid)}`, ...threadStates(pid).map((line) => `  ${line}`)])
    .join('\n');
}

function groupOf(pid: number): number {
  const [, , group] = (readProc(`${pid}/stat`) ?? '').replace(/^.*\) /s, '').split(' ');
  return Number(group);
}

function commandOf(pid: number): string {
  return (readProc(`${pid}/cmdline`) ?? '').split('\0').slice(0, 4).join(' ').slice(0, 120);
}
