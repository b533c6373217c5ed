// States of the threads of a process, as Linux reports them. Used for processes that do not answer.
import { countsOf } from '../base/lookUps.js';
import { listDirectory, threadState } from './processTree.js';

/** Returns one line per kind of wait, e.g. `7 × S futex_wait_queue`. Empty without /proc, and for an ended process. */
export function threadStates(pid: number): string[] {
  const tasks = listDirectory(`/proc/${pid}/task`);
  const places = tasks.map((task) => threadState(`${pid}/task/${task}`) || '?');
  return Array.from(countsOf(places), ([place, count]) => `${count} × ${place}`);
}
