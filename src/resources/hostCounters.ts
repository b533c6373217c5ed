// Counters of the whole machine since its start: network, disks, CPU. Linux has them in /proc; elsewhere only CPU is
// known. NaN stands for unknown.
import { cpus } from 'node:os';
import { ownCpuLimit, parseThrottled } from './containerLimits.js';
import { listDirectory, TICKS_PER_SECOND } from './processTree.js';
import { reread, rereadProc } from './procFile.js';

export interface HostCounters {
  /** Bytes received and sent over all interfaces. The loopback is included, because local workers communicate over it. */
  readonly received: number;
  readonly sent: number;
  /** Bytes read from and written to all disks. */
  readonly read: number;
  readonly written: number;
  /** Sum of the seconds in which each core was busy. */
  readonly busy: number;
  /** Seconds in which the CPU limit of this process stopped its threads; NaN without a limit. */
  readonly throttled: number;
}

/** Milliseconds for which the list of disks stays valid. */
const DISKS_MS = 10_000;
/** Size of a sector in /proc, independent of the disk. */
const SECTOR = 512;
/** Matches devices that are no disks of their own: their data comes from a disk below, or from memory. */
const STACKED = /^(loop|ram|zram|dm-|md|sr|fd)\d/;

export function hostCounters(): HostCounters {
  const [received, sent] = parseNetDev(rereadProc('net/dev'));
  const [read, written] = parseDiskstats(rereadProc('diskstats'), disks());
  const busy = process.platform === 'linux' ? parseStat(rereadProc('stat')) : busyCores();
  const limit = ownCpuLimit();
  const throttled = limit === undefined ? Number.NaN : parseThrottled(reread(limit.stat));
  return { received, sent, read, written, busy, throttled };
}

type Pair = readonly [number, number];
const UNKNOWN: Pair = [Number.NaN, Number.NaN];

/** Sums bytes received and sent over the lines `name: received packets … sent …`. */
export function parseNetDev(text: string): Pair {
  let pair = UNKNOWN;
  for (const line of text.split('\n')) {
    const fields = /^\s*[^:\s]+:\s*(.*)$/.exec(line)?.[1]?.split(/\s+/);
    if (fields === undefined || fields.length < 9) continue;
    pair = plus(pair, Number(fields[0]), Number(fields[8]));
  }
  return pair;
}

/** Sums bytes read and written over the given disks. Partitions have other names; they would count twice. */
export function parseDiskstats(text: string, names: ReadonlySet<string>): Pair {
  let pair = UNKNOWN;
  for (const line of text.split('\n')) {
    const fields = line.trim().split(/\s+/);
    if (fields.length < 10 || !names.has(fields[2]!)) continue;
    pair = plus(pair, Number(fields[5]) * SECTOR, Number(fields[9]) * SECTOR);
  }
  return pair;
}

/** Returns the seconds of `cpu user nice system idle iowait irq softirq steal …` that are neither idle nor waiting. */
export function parseStat(text: string): number {
  const fields = /^cpu\s+(.*)$/m.exec(text)?.[1]?.split(/\s+/).map(Number);
  if (fields === undefined || fields.length < 7) return Number.NaN;
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = fields;
  return (user + nice + system + irq + softirq) / TICKS_PER_SECOND;
}

function plus([a, b]: Pair, c: number, d: number): Pair {
  return Number.isNaN(a) ? [c, d] : [a + c, b + d];
}

let known: { readonly names: ReadonlySet<string>; readonly at: number } | undefined;

/** Returns the names of disks from a cache, because disks rarely change. */
function disks(): ReadonlySet<string> {
  const now = performance.now();
  if (known === undefined || now - known.at > DISKS_MS)
    known = { names: new Set(listDirectory('/sys/block').filter((name) => !STACKED.test(name))), at: now };
  return known.names;
}

function busyCores(): number {
  let milliseconds = 0;
  for (const { times } of cpus()) milliseconds += times.user + times.nice + times.sys + times.irq;
  return milliseconds > 0 ? milliseconds / 1000 : Number.NaN;
}
