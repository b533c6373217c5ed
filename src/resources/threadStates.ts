// States of the threads of a process, as Linux reports them. Used for processes that do not answer.
import { countsOf } from '../base/lookUps.js';
import { listDirectory, procStat, readProc } from './processTree.js';

/** Returns one line per kind of wait, e.g. `7 × S futex_wait_queue`. Empty without /proc, and for an ended process. */
export function threadStates(pid: number): string[] {
  const places = listDirectory(`/proc/${pid}/task`).map((task) => {
    const state = procStat(`${pid}/task/${task}`)?.(3) || '?';
    return `${state} ${readProc(`${pid}/task/${task}/wchan`) ?? ''}`.trim();
  });
  return Array.from(countsOf(places), ([place, count]) => `${count} × ${place}`);
}
