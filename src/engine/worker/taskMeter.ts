// Measurements that a task makes of itself. Every moment of a task belongs to the innermost open meter or to none.
// Meters of promises that a task awaits together get equal parts. So the seconds of a task add up to its wall time.
import type { ThreadCpuClock } from './threadCpuClock.js';

/** An open meter. */
export interface OpenMeter {
  readonly label: string;
  readonly parent: OpenMeter | undefined;
  /** Number of open meters inside this one. */
  inner: number;
  open: boolean;
}

/** A metric of a task, before the task is known. */
export interface Digest {
  readonly label: string;
  value: number;
  readonly unit: string;
}

/** Most tasks measure nothing, and a TaskMeter must cost only 50 ns, so unused members are not allocated. */
const NONE: OpenMeter[] = [];
const NO_DIGESTS: readonly Digest[] = [];

export class TaskMeter {
  /** Open meters without an open meter inside. */
  #innermost: OpenMeter[] = NONE;
  #digests: Map<string, Digest> | undefined;
  readonly #cpuClock: ThreadCpuClock | undefined;
  /** Milliseconds on `performance.now()` up to which time has been assigned to activities. */
  #since = 0;
  #cpuSince = 0;
  #ended = false;
  /** Receives metrics after the end of the task, e.g. from a promise that the task did not await. */
  readonly #late: ((digest: Digest) => void) | undefined;
  /** Run of the task, for its printed lines; -1 if unknown. */
  run = -1;
  id = -1;
  prefix = '';
  /** Seconds inside meters, and the CPU seconds among them. */
  metered = 0;
  meteredCpu = 0;

  constructor(cpuClock: ThreadCpuClock | undefined, late?: (digest: Digest) => void) {
    this.#cpuClock = cpuClock;
    this.#late = late;
  }

  open(label: string, parent: OpenMeter | undefined): OpenMeter {
    const meter: OpenMeter = { label, parent, inner: 0, open: true };
    if (this.#ended) return meter;
    this.#advance();
    if (this.#innermost.length === 0) this.#cpuSince = this.#cpuClock?.() ?? 0;
    if (parent?.open) {
      parent.inner++;
      if (parent.inner === 1) this.#remove(parent);
    }
    if (this.#innermost === NONE) this.#innermost = [];
    this.#innermost.push(meter);
    return meter;
  }

  close(meter: OpenMeter): void {
    if (!meter.open) return;
    meter.open = false;
    if (this.#ended) return;
    this.#advance();
    this.#remove(meter);
    const { parent } = meter;
    if (parent?.open) {
      parent.inner--;
      if (parent.inner === 0) this.#innermost.push(parent);
    }
    if (this.#innermost.length === 0) this.#closeCpu();
  }

  /**
   * Adds to a metric. `inside` is the innermost open meter; seconds that the task measured itself are subtracted from
   * it.
   */
  digest(label: string, value: number, unit: string, inside: OpenMeter | undefined): void {
    if (this.#ended) {
      // The task has ended. Seconds that pass now may count for the next task, so only other units are added.
      if (unit !== 'seconds') this.#late?.({ label, value, unit });
      return;
    }
    if (unit === 'seconds') {
      if (inside?.open) this.#add(inside.label, -value, unit);
      else this.metered += value;
    }
    this.#add(label, value, unit);
  }

  get hasEnded(): boolean {
    return this.#ended;
  }

  /** Ends the task and closes open meters. Returns the measurements. */
  end(): Iterable<Digest> {
    this.#ended = true;
    if (this.#innermost.length > 0) {
      this.#advance();
      this.#closeCpu();
      this.#innermost = NONE;
    }
    return this.#digests?.values() ?? NO_DIGESTS;
  }

  /** Assigns the time since the last change to the open meters. */
  #advance(): void {
    const now = performance.now();
    const share = (now - this.#since) / 1000 / this.#innermost.length;
    this.#since = now;
    for (const { label } of this.#innermost) {
      this.metered += share;
      this.#add(label, share, 'seconds');
    }
  }

  #closeCpu(): void {
    if (this.#cpuClock !== undefined) this.meteredCpu += this.#cpuClock() - this.#cpuSince;
  }

  #remove(meter: OpenMeter): void {
    const at = this.#innermost.indexOf(meter);
    if (at >= 0) this.#innermost.splice(at, 1);
  }

  #add(label: string, value: number, unit: string): void {
    const key = `${unit}\u0000${label}`;
    this.#digests ??= new Map();
    const known = this.#digests.get(key);
    if (known === undefined) this.#digests.set(key, { label, value, unit });
    else known.value += value;
  }
}
