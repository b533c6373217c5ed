// Is the process that wrote this down still there? A number alone does not say so: the system gives it to another process
// sooner or later, and a container has numbers of its own. So the time at which the process started goes with it, and
// where the numbers count.

import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { isError } from '../../base/isError.js';

export interface ProcessIdentity {
  readonly pid: number;
  /** In the system's own words; empty where the system does not tell. */
  readonly startTime: string;
  /** Host, and on Linux the boot and the namespace in which `pid` counts. */
  readonly place: string;
}

/** Milliseconds that `ps` may take. */
const PS_TIMEOUT_MS = 2000;

/** Of this process. */
export function ownIdentity(): ProcessIdentity {
  return { pid: process.pid, startTime: startTimeOf(process.pid) ?? '', place: ownPlace() };
}

/** `unknown`: it was written down where other process numbers count, in another container for example. */
export function stateOf(owner: ProcessIdentity): 'alive' | 'dead' | 'unknown' {
  const own = ownPlace();
  if (hostOf(owner.place) !== hostOf(own)) return 'unknown';
  if (owner.place !== own) return bootOf(owner.place) === bootOf(own) ? 'unknown' : 'dead';
  const startTime = startTimeOf(owner.pid);
  if (startTime === undefined) return 'dead';
  return startTime === '' || owner.startTime === '' || startTime === owner.startTime ? 'alive' : 'dead';
}

/** Undefined: there is no such process. Empty: there is one, and the system does not tell since when. */
function startTimeOf(pid: number): string | undefined {
  if (process.platform === 'linux') return linuxStartTime(pid);
  try {
    process.kill(pid, 0);
  } catch (error) {
    // Anything else means that it is there and not ours.
    if (isError(error) && 'code' in error && error.code === 'ESRCH') return undefined;
  }
  return process.platform === 'win32' ? '' : psStartTime(pid);
}

/** Clock ticks since the boot. A process that has ended and is not yet waited for counts as gone. */
function linuxStartTime(pid: number): string | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return undefined;
  }
  // The second field is the program's name in parentheses and may hold anything: the fields after it begin with the third.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' || fields[0] === 'X' ? undefined : (fields[22 - 3] ?? '');
}

function psStartTime(pid: number): string {
  try {
    const options = {
      encoding: 'utf8',
      timeout: PS_TIMEOUT_MS,
      env: { ...process.env, LC_ALL: 'C' },
    } as const;
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], options).trim();
  } catch {
    return '';
  }
}

function ownPlace(): string {
  if (process.platform !== 'linux') return hostname();
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
    return `${hostname()} ${boot} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return hostname();
  }
}

function hostOf(place: string): string {
  return place.split(' ')[0] ?? '';
}

function bootOf(place: string): string {
  return place.split(' ')[1] ?? '';
}
