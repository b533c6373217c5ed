// States of the threads of a process, as Linux reports them. Used for processes that do not answer.
import { countsOf } from '../base/lookUps.js';
import { listDirectory, readProc } from './processTree.js';

/** Returns one line per kind of wait, e.g. `7 × S futex_wait_queue`. Empty without /proc, and for an ended process. */
export function threadStates(pid: number): string[] {
  const places = listDirectory(`/proc/${pid}/task`).map((task) => {
    // The name of the command is in brackets and may contain anything.
    const state = (readProc(`${pid}/task/${task}/stat`) ?? '').replace(/^.*\) /s, '').slice(0, 1) || '?';
    return `${state} ${readProc(`${pid}/task/${task}/wchan`) ?? ''}`.trim();
  });
  return Array.from(countsOf(places), ([place, count]) => `${count} × ${place}`);
}

/** Returns the states of all processes of a group, each with the beginning of its command line. */
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
