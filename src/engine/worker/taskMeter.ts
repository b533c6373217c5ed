// What one task measures of itself. Every moment of a task belongs to one activity: to the meter that was opened last
// inside the others, in equal parts to meters that are open side by side (promises that a task awaits together), or to
// none. So the seconds of a task add up to its wall time, however its meters nest.
import type { ThreadCpuClock } from './threadCpuClock.js';

/** A meter that is open. */
export interface OpenMeter {
  readonly label: string;
  readonly parent: OpenMeter | undefined;
  /** Meters that were opened inside this one and are open still. */
  inner: number;
  open: boolean;
}

/** A metric of a task, before it is known which task it was. */
export interface Digest {
  readonly label: string;
  value: number;
  readonly unit: string;
}

/** Most tasks measure nothing, and an empty task is made in 50 ns: what they do not need is not made. */
const NONE: OpenMeter[] = [];
const NO_DIGESTS: readonly Digest[] = [];

export class TaskMeter {
  /** What is open and has nothing open inside it. */
  #innermost: OpenMeter[] = NONE;
  #digests: Map<string, Digest> | undefined;
  readonly #cpuClock: ThreadCpuClock | undefined;
  /** Milliseconds on `performance.now()` up to which time has been given to activities. */
  #since = 0;
  #cpuSince = 0;
  #ended = false;
  /** Metrics that come when the task is over, e.g. from a promise that it did not wait for. */
  readonly #late: ((digest: Digest) => void) | undefined;
  /** What the clock of the run queue said before it began. */
  readonly queuedBefore: number;
  /** The task, for what it prints. -1: not known. */
  run = -1;
  id = -1;
  prefix = '';
  /** Seconds inside meters, and the CPU seconds among them. */
  metered = 0;
  meteredCpu = 0;

  constructor(
    cpuClock: ThreadCpuClock | undefined,
    late?: (digest: Digest) => void,
    queuedBefore = Number.NaN,
  ) {
    this.#cpuClock = cpuClock;
    this.#late = late;
    this.queuedBefore = queuedBefore;
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

  /** `inside`: the meter that is open here. Seconds that the task measured itself are not the meter's any more. */
  digest(label: string, value: number, unit: string, inside: OpenMeter | undefined): void {
    if (this.#ended) {
      // Seconds of then are another task's already.
      if (unit !== 'seconds') this.#late?.({ label, value, unit });
      return;
    }
    if (unit === 'seconds') {
      if (inside?.open) this.#add(inside.label, -value, unit);
      else this.metered += value;
    }
    this.#add(label, value, unit);
  }

  /** Ends the task: meters that are open are closed. Returns what was measured. */
  end(): Iterable<Digest> {
    this.#ended = true;
    if (this.#innermost.length > 0) {
      this.#advance();
      this.#closeCpu();
      this.#innermost = NONE;
    }
    return this.#digests?.values() ?? NO_DIGESTS;
  }

  /** Gives the time since the last change to what was open. */
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
