// Measurements that a task makes of itself. Every moment of a task belongs to the innermost open meters or to none, so
// the seconds of a task add up to its wall time.
import { getOrMake } from '../../base/lookUps.js';
import type { MeteredTask, MeterScope } from './meterContext.js';
import { innermost, MeterTree } from './meterTree.js';
import { type SecededShares, SecededTime } from './secededTime.js';
import type { ThreadCpuClock } from './threadCpuClock.js';

/** A metric of a task, before the task is known. */
export interface Digest {
  readonly label: string;
  value: number;
  readonly unit: string;
}

/** Most tasks measure nothing, and a TaskMeter must cost only 50 ns, so unused members are not allocated. */
const NO_DIGESTS: readonly Digest[] = [];

export class TaskMeter implements MeteredTask {
  #meters: MeterTree | undefined;
  #digests: Map<string, Digest> | undefined;
  readonly #cpuClock: ThreadCpuClock | undefined;
  #cpuSince = 0;
  hasEnded = false;
  #atEnd: (() => void)[] | undefined;
  /** Receives metrics after the end of the task, e.g. from a promise that the task did not await. */
  readonly #late: ((digest: Digest) => void) | undefined;
  /** Run of the task, for its printed lines; -1 if unknown. */
  run = -1;
  id = -1;
  prefix = '';
  /** Whether the task has asked to leave its slot. */
  hasSeceded = false;
  /** Number of results that the task awaits from the scheduler's process, after it has asked to leave its slot. */
  #waits = 0;
  /** Set when the task has left its slot. */
  away: SecededTime | undefined;
  /** Seconds that the task measured itself, outside meters; since it left its slot, if it has. */
  digested = 0;
  /** Seconds inside meters or in `digested`, and the CPU seconds inside meters. */
  metered = 0;
  meteredCpu = 0;

  constructor(cpuClock: ThreadCpuClock | undefined, late?: (digest: Digest) => void) {
    this.#cpuClock = cpuClock;
    this.#late = late;
  }

  open(label: string, context: MeterScope, isBlock: boolean): MeterScope {
    if (this.hasEnded) return context;
    this.#meters ??= new MeterTree(this, (each, seconds) => {
      this.metered += seconds;
      this.#add(each, seconds, 'seconds');
    });
    if (this.#meters.openMeters === 0) {
      this.#cpuSince = this.#cpuClock?.() ?? 0;
      this.away?.meter(true);
    }
    return this.#meters.open(label, context, isBlock);
  }

  close(inside: MeterScope, context: MeterScope | undefined): MeterScope | undefined {
    if (this.hasEnded || this.#meters === undefined || !inside.meter?.open) return context;
    const after = this.#meters.close(inside, context);
    if (this.#meters.openMeters === 0) {
      this.#closeCpu();
      this.away?.meter(false);
    }
    return after;
  }

  /** Adds to a metric. Seconds that the task measured itself are subtracted from the innermost open meter. */
  digest(label: string, value: number, unit: string, context: MeterScope): void {
    if (this.hasEnded) {
      // The task has ended. Seconds that pass now may count for the next task, so only other units are added.
      if (unit !== 'seconds') this.#late?.({ label, value, unit });
      return;
    }
    if (unit === 'seconds') {
      const inside = innermost(context);
      if (inside !== undefined) this.#add(inside.label, -value, unit);
      else {
        this.metered += value;
        this.digested += value;
      }
    }
    this.#add(label, value, unit);
  }

  async awaited<R>(work: Promise<R>): Promise<R> {
    // A task in its slot occupies its thread also while it waits.
    if (!this.hasSeceded) return work;
    if (this.#waits++ === 0) this.away?.pause();
    try {
      return await work;
    } finally {
      if (--this.#waits === 0 && !this.hasEnded) this.away?.resume();
    }
  }

  /** Adds the time so far of open meters to `metered` and `meteredCpu`. */
  settle(): void {
    if (this.#meters === undefined || this.#meters.openMeters === 0) return;
    this.#meters.settle();
    this.#closeCpu();
    this.#cpuSince = this.#cpuClock?.() ?? 0;
  }

  /** The task has left its slot at the time `now`. */
  left(now: number, shares: SecededShares): void {
    this.digested = 0;
    this.away = new SecededTime(shares, now, this.#waits > 0, (this.#meters?.openMeters ?? 0) > 0);
  }

  /** Calls a function when the task ends, before those of earlier calls. */
  atEnd(call: () => void): void {
    this.#atEnd ??= [];
    this.#atEnd.push(call);
  }

  /** Ends the task and closes open meters. Returns the measurements. */
  end(): Iterable<Digest> {
    this.hasEnded = true;
    if (this.#atEnd !== undefined) for (const call of this.#atEnd.reverse()) call();
    if (this.#meters !== undefined) {
      this.#meters.end();
      if (this.#meters.openMeters > 0) this.#closeCpu();
    }
    return this.#digests?.values() ?? NO_DIGESTS;
  }

  #closeCpu(): void {
    if (this.#cpuClock !== undefined) this.meteredCpu += this.#cpuClock() - this.#cpuSince;
  }

  #add(label: string, value: number, unit: string): void {
    const key = `${unit}\u0000${label}`;
    this.#digests ??= new Map();
    getOrMake(this.#digests, key, () => ({ label, value: 0, unit })).value += value;
  }
}
