// Reads CPU time and memory of this process and of all its descendants. Works on the main thread and on the monitor
// thread alike, because all figures belong to the process, not to a thread.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { attempt } from '../base/errors.js';
import { countsOf, pushTo } from '../base/lookUps.js';
import { epochSeconds } from './clock.js';
import { processRss } from './processRss.js';

/** Sums over the process tree since it began. */
interface ProcessTreeUsage {
  /** CPU seconds, user and system, of every thread and child process, also of children that have ended. */
  readonly cpu: number;
  /** Resident bytes of every process of the tree; pages that two of them share count twice, as in Dask. */
  readonly rss: number;
}

/**
 * A sample of the process tree, without the CPU seconds of the monitor thread. The difference of two samples gives the
 * load.
 */
export interface TreeSample extends ProcessTreeUsage {
  /** Seconds since the epoch. */
  readonly time: number;
}

/** @param ownCpu the CPU nanoseconds of the monitor thread */
export function treeSample(ownCpu: BigInt64Array): TreeSample {
  const time = epochSeconds();
  const { cpu, rss } = processTreeUsage();
  return { time, cpu: cpu - Number(Atomics.load(ownCpu, 0)) / 1e9, rss };
}

/** Linux reports process times in 1/100 s to programs on every architecture. */
export const TICKS_PER_SECOND = 100;

/**
 * Reads the usage. Own CPU time has a resolution of microseconds. That of children has hundredths of a second (Linux)
 * or seconds (elsewhere). Cost: 0.1 to 1 ms plus 0.05 ms per child on Linux; elsewhere a run of `ps`, some 10 ms.
 */
export function processTreeUsage(): ProcessTreeUsage {
  const own = process.cpuUsage();
  const self = { cpu: (own.user + own.system) / 1e6, rss: processRss() };
  const others = process.platform === 'linux' ? linuxChildren() : psChildren();
  return { cpu: self.cpu + others.cpu, rss: self.rss + others.rss };
}

function linuxChildren(): ProcessTreeUsage {
  const self = String(process.pid);
  const childrenOf = existsSync(`/proc/${self}/task/${self}/children`) ? listedChildren : scannedChildren();
  // The times of an ended child have moved into those of its parent, so the sum never decreases.
  let ticks = statOf(self)?.endedTicks ?? 0;
  let rss = 0;
  const pending = [...childrenOf(self)];
  for (let pid = pending.pop(); pid !== undefined; pid = pending.pop()) {
    const stat = statOf(pid);
    if (stat === undefined) continue;
    ticks += stat.ticks + stat.endedTicks;
    rss += rssOf(pid);
    pending.push(...childrenOf(pid));
  }
  return { cpu: ticks / TICKS_PER_SECOND, rss };
}

/** Returns the content of a file of /proc; undefined once the process has ended. */
export function readProc(path: string): string | undefined {
  return attempt(() => readFileSync(`/proc/${path}`, 'latin1'), undefined);
}

/** Returns a function that gives the fields of a process's `stat` by number, from 3 on; undefined once it has ended. */
export function procStat(pid: string): ((number: number) => string | undefined) | undefined {
  const text = readProc(`${pid}/stat`);
  if (text === undefined) return undefined;
  // The second field is the program's name in parentheses and may contain anything. The third field follows the last
  // parenthesis.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (number) => fields[number - 3];
}

/** Returns the state of a thread and what it waits for, e.g. `S ep_poll`; empty if unknown. `path`: e.g. `4711/task/4720`. */
export function threadState(path: string): string {
  const state = procStat(path)?.(3);
  return state === undefined ? '' : `${state} ${readProc(`${path}/wchan`) ?? ''}`.trim();
}

/**
 * Returns what the threads of a process wait for, one line per kind of wait, e.g. `7 × S futex_wait_queue`. Empty
 * without /proc, and for an ended process.
 */
export function threadStates(pid: number): string[] {
  const tasks = listDirectory(`/proc/${pid}/task`);
  const places = tasks.map((task) => threadState(`${pid}/task/${task}`) || '?');
  return Array.from(countsOf(places), ([place, count]) => `${count} × ${place}`);
}

function statOf(pid: string) {
  const known = procStat(pid);
  if (known === undefined) return undefined;
  const field = (number: number): string => known(number) ?? '0';
  return {
    parent: field(4),
    ticks: Number(field(14)) + Number(field(15)),
    /** Ticks of ended children that the process has waited for. */
    endedTicks: Number(field(16)) + Number(field(17)),
  };
}

/** Returns the CPU ticks of a process or thread (`4711`, `4711/task/4720`) without its children; NaN once it has ended. */
export function procTicks(path: string): number {
  return statOf(path)?.ticks ?? Number.NaN;
}

function rssOf(pid: string): number {
  const match = /^VmRSS:\s+(\d+) kB/m.exec(readProc(`${pid}/status`) ?? '');
  return match ? Number(match[1]) * 1024 : 0;
}

/** Returns the names in a folder; none if it does not exist. */
export function listDirectory(path: string): string[] {
  return attempt(() => readdirSync(path), []);
}

/** Reads the kernel's list of children. A process is the child of the thread that started it. */
function listedChildren(pid: string): string[] {
  return listDirectory(`/proc/${pid}/task`).flatMap((thread) => {
    const list = readProc(`${pid}/task/${thread}/children`)?.trim();
    return list ? list.split(' ') : [];
  });
}

/** Finds children on kernels without that list. Reads every process of the machine, some 10 µs each. */
function scannedChildren(): (pid: string) => readonly string[] {
  const byParent = new Map<string, string[]>();
  for (const pid of listDirectory('/proc')) {
    const parent = /^\d+$/.test(pid) ? statOf(pid)?.parent : undefined;
    if (parent !== undefined) pushTo(byParent, parent, pid);
  }
  return (pid) => byParent.get(pid) ?? [];
}

function psChildren(): ProcessTreeUsage {
  if (process.platform === 'win32') return { cpu: 0, rss: 0 };
  const options = { encoding: 'utf8', timeout: 2000 } as const;
  const text = attempt(() => execFileSync('ps', ['-axo', 'pid=,ppid=,rss=,time='], options), '');
  return sumOfPs(text, process.pid);
}

/** Sums the descendants of `root` in the output of `ps -axo pid=,ppid=,rss=,time=`. `ps` does not report ended children. */
export function sumOfPs(text: string, root: number): ProcessTreeUsage {
  const rows = text.split('\n').flatMap((line) => {
    const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)/.exec(line);
    if (!match) return [];
    const [, pid, parent, kilobytes, time] = match;
    return [{ pid: Number(pid), parent: Number(parent), rss: Number(kilobytes) * 1024, cpu: psTime(time!) }];
  });
  const byParent = new Map<number, typeof rows>();
  for (const row of rows) pushTo(byParent, row.parent, row);
  const pending = [...(byParent.get(root) ?? [])];
  let cpu = 0;
  let rss = 0;
  for (let row = pending.pop(); row !== undefined; row = pending.pop()) {
    cpu += row.cpu;
    rss += row.rss;
    pending.push(...(byParent.get(row.pid) ?? []));
  }
  return { cpu, rss };
}

/** Converts `[[days-]hours:]minutes:seconds[.fraction]` to seconds. */
function psTime(text: string): number {
  const [clock = '', days = '0'] = text.split('-').reverse();
  return Number(days) * 86_400 + clock.split(':').reduce((sum, part) => sum * 60 + Number(part), 0);
}
