// Reads the CPU time of this process and of its ended descendants, as far as a parent waited for each of them.
import { readFileSync } from 'node:fs';

/** Clock ticks per second in /proc: USER_HZ, 100 on every Linux that Node runs on. */
const TICKS = 100;

/** Returns the sum of user and system seconds; undefined without /proc. */
export function cpuSeconds() {
  if (process.platform !== 'linux') return undefined;
  const stat = readFileSync('/proc/self/stat', 'utf8');
  // The name of the program, in brackets, may contain spaces. The fields behind it can be counted.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  // utime, stime, cutime, cstime
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS;
}
