// Determines whether the process that wrote a record still exists. A number alone does not identify a process: the
// system reuses it, and a container has its own numbers. So the record also has the start time of the process and the
// place in which its number counts.

import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { attempt, isError } from '../../base/errors.js';
import { procStat, readProc } from '../../resources/processTree.js';

export interface ProcessIdentity {
  readonly pid: number;
  /** Start time in the system's own format; empty if the system does not report it. */
  readonly startTime: string;
  /** Host, and on Linux the boot and the namespace in which `pid` counts. */
  readonly place: string;
}

/** Milliseconds that `ps` may take. */
const PS_TIMEOUT_MS = 2000;

export function ownIdentity(): ProcessIdentity {
  return { pid: process.pid, startTime: startTimeOf(process.pid) ?? '', place: ownPlace() };
}

/**
 * Returns the state of a process; `unknown` if it was recorded where other process numbers count, e.g. in another
 * container, or if one of the two processes cannot read /proc.
 */
export function stateOf(owner: ProcessIdentity): 'alive' | 'dead' | 'unknown' {
  const own = ownPlace();
  const [host, boot] = own.split(' ');
  const [ownerHost, ownerBoot] = owner.place.split(' ');
  if (ownerHost !== host) return 'unknown';
  if (owner.place !== own) return boot && ownerBoot && ownerBoot !== boot ? 'dead' : 'unknown';
  const startTime = startTimeOf(owner.pid);
  if (startTime === undefined) return 'dead';
  return startTime === '' || owner.startTime === '' || startTime === owner.startTime ? 'alive' : 'dead';
}

/** Returns the start time of a process. Undefined if it does not exist; empty if the system does not report its start. */
function startTimeOf(pid: number): string | undefined {
  // Without /proc, or the permission to read it, no process has a file.
  if (process.platform === 'linux' && readProc('self/stat') !== undefined) return linuxStartTime(pid);
  try {
    process.kill(pid, 0);
  } catch (error) {
    // Any other error means that the process exists and belongs to another user.
    if (isError(error) && 'code' in error && error.code === 'ESRCH') return undefined;
  }
  return process.platform === 'win32' ? '' : psStartTime(pid);
}

/** Returns clock ticks since the boot. A process that has ended but was not waited for counts as gone. */
function linuxStartTime(pid: number): string | undefined {
  const field = procStat(String(pid));
  const state = field?.(3);
  return field === undefined || state === 'Z' || state === 'X' ? undefined : (field(22) ?? '');
}

function psStartTime(pid: number): string {
  const options = { encoding: 'utf8', timeout: PS_TIMEOUT_MS, env: { ...process.env, LC_ALL: 'C' } } as const;
  return attempt(() => execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], options).trim(), '');
}

/** Returns where the id of this process counts. */
export function ownPlace(): string {
  if (process.platform !== 'linux') return hostname();
  return attempt(() => {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
    return `${hostname()} ${boot} ${readlinkSync('/proc/self/ns/pid')}`;
  }, hostname());
}
