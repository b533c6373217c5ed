// Measures the tasks of an isolate: thread CPU, the rest of their wall time, garbage collection, and their own
// metrics. A reading of the CPU clock costs as much as an empty task, so consecutive short tasks share readings. The
// CPU time between two readings is divided by wall time, and the sums are exact.
import { PerformanceObserver } from 'node:perf_hooks';
import type { IsolateWork } from '../../protocol/isolateMessages.js';
import { DEFAULT_SPAN, spanId } from '../../protocol/metrics.js';
import { idleTime } from '../../resources/idleTime.js';
import type { MetricEntry, MetricLedger } from '../metrics/metricLedger.js';
import { TaskIntervalLog } from '../profiler/taskIntervalLog.js';
import { leadMs } from './isolateClock.js';
import { meterContext } from './meterContext.js';
import { idleSeconds, SecededShares, type SecededTime, type ThreadTimes } from './secededTime.js';
import { type Digest, TaskMeter } from './taskMeter.js';
import type { ThreadCpuClock } from './threadCpuClock.js';

/** Seconds for which tasks share a reading of the CPU clock. */
const WINDOW_SECONDS = 1e-4;
const WINDOW_TASKS = 256;

/** Seconds below which work beside tasks is counted, but not reported singly. */
const SEEN_SECONDS = 5e-5;
const SEEN_GC_SECONDS = 1e-3;
const SEEN_AWAIT_SECONDS = SEEN_SECONDS;
/** Most intervals of work that wait to be sent. Further ones are only counted. */
const MAX_WORK = 1000;
/** Marks work that belongs to no task. */
const NO_RUN = -1;

/** Outcome of a task, which decides where its time counts, as in Dask. */
export type Outcome = 'done' | 'failed' | 'cancelled';

/** A task of a run, by local id. */
export type TaskNumber = Pick<IsolateWork, 'run' | 'id'>;

/** The metrics of tasks of one prefix and span. */
class Kind {
  readonly number: number;
  readonly #ledger: MetricLedger;
  readonly #span: string;
  readonly prefix: string;
  readonly #entries = new Map<string, MetricEntry>();

  constructor(number: number, ledger: MetricLedger, span: string, prefix: string) {
    this.number = number;
    this.#ledger = ledger;
    this.#span = span;
    this.prefix = prefix;
  }

  entry(activity: string, unit: string): MetricEntry {
    const name = unit === 'seconds' ? activity : `${activity}\u0000${unit}`;
    let entry = this.#entries.get(name);
    if (entry === undefined) {
      entry = this.#ledger.entry(['execute', this.#span, this.prefix, activity, unit]);
      this.#entries.set(name, entry);
    }
    return entry;
  }
}

/** Most kinds that are kept. Beyond it all are discarded and created again on demand. */
const MAX_KINDS = 20_000;

export class TaskMetering implements ThreadTimes {
  slotSeconds = 0;
  readonly #shares = new SecededShares(this);
  readonly #ledger: MetricLedger;
  readonly #clock: () => number;
  readonly #cpuClock: ThreadCpuClock | undefined;
  readonly #kinds = new Map<string, Kind>();
  #byNumber: Kind[] = [];
  /** Kinds of the tasks by time, for garbage collections, which Node reports afterwards. */
  readonly #log = new TaskIntervalLog(4096);
  readonly #gc: PerformanceObserver;
  /** Tasks since the last reading of the CPU clock: their kinds, wall time outside meters, and outcomes. */
  readonly #windowKinds: Kind[] = [];
  readonly #windowSeconds = new Float64Array(WINDOW_TASKS);
  readonly #windowOutcomes: Outcome[] = [];
  #windowOpen = false;
  #windowStart = 0;
  #windowCpu = 0;
  #meteredCpu = 0;
  /** Seconds counted for tasks and for work beside tasks, since the metering was created. */
  #accounted = 0;
  /** Time since which the isolate has been busy with a batch, and the seconds counted then. */
  #busySince = 0;
  #accountedThen = 0;
  #work: IsolateWork[] = [];
  /** Number of tasks in progress: more than one if promises are awaited side by side. */
  #running = 0;
  /** Collections during tasks whose time has not been settled. */
  readonly #collections: { kind: Kind; seconds: number }[] = [];

  /**
   * @param clock seconds since the epoch, used for the times of tasks
   * @param cpuClock without it, time outside meters counts as `other`
   * @param collected called when garbage collections have been counted
   */
  constructor(
    ledger: MetricLedger,
    clock: () => number,
    cpuClock?: ThreadCpuClock,
    collected: () => void = () => undefined,
  ) {
    this.#ledger = ledger;
    this.#clock = clock;
    this.#cpuClock = cpuClock;
    // Node reports a collection afterwards, on the clock from which `clock` is derived. The lead is measured once: a
    // new measurement would be wrong by a wait for the core between two readings, and would miss the task.
    const lead = leadMs(() => clock() * 1000);
    this.#gc = new PerformanceObserver((list) => {
      for (const { startTime, duration } of list.getEntries())
        this.#collected((lead + startTime) / 1000, duration / 1000);
      collected();
    });
    this.#gc.observe({ entryTypes: ['gc'] });
  }

  /** Returns the kind for tasks of this prefix and span, for `begin` and `end`. */
  kind(prefix: string, span: readonly string[] = DEFAULT_SPAN): Kind {
    const id = spanId(span);
    const name = `${id}\u0000${prefix}`;
    let kind = this.#kinds.get(name);
    if (kind === undefined) {
      if (this.#kinds.size >= MAX_KINDS) this.#forgetKinds();
      kind = new Kind(this.#byNumber.length, this.#ledger, id, prefix);
      this.#kinds.set(name, kind);
      this.#byNumber.push(kind);
    }
    return kind;
  }

  /** Starts a task: this call and everything that it starts belong to the task. */
  begin(kind: Kind, start: number): TaskMeter {
    if (!this.#windowOpen) this.#openWindow(start);
    this.#running++;
    const late = (digest: Digest): void => kind.entry(digest.label, digest.unit).add(digest.value);
    const task = new TaskMeter(this.#cpuClock, late);
    meterContext.enterWith({ task, meter: undefined, isInside: true, before: undefined });
    return task;
  }

  /** The task leaves its slot at `now`, where other tasks follow. Counts its time so far. */
  secede(task: TaskMeter, kind: Kind, start: number, now: number): void {
    task.settle();
    this.#countSlot(task, kind, start, now, 'done');
    task.left(now, this.#shares);
  }

  /** Ends a seceded task. Counts the time in which it used the thread after it had left its slot. */
  endSeceded(task: TaskMeter, away: SecededTime, kind: Kind, outcome: Outcome = 'done'): void {
    for (const digest of task.end()) this.#count(kind, digest, outcome);
    const { outside, inside } = away;
    const used = outside.seconds + inside.seconds;
    // The CPU time does not belong to the task in the slot.
    if (this.#windowOpen) this.#meteredCpu += outside.cpuSeconds + inside.cpuSeconds;
    this.#accounted += used;
    const seconds = outcome === 'done' ? Math.max(0, outside.seconds - task.digested) : used;
    const cpu = Math.min(seconds, outside.cpuSeconds);
    this.#settle(kind, seconds, seconds === 0 ? 0 : cpu / seconds, outcome);
  }

  /** Ends the task. `start` and `stop` are its reported times. */
  end(task: TaskMeter, kind: Kind, start: number, stop: number, outcome: Outcome = 'done'): void {
    for (const digest of task.end()) this.#count(kind, digest, outcome);
    this.#countSlot(task, kind, start, stop, outcome);
  }

  #countSlot(task: TaskMeter, kind: Kind, start: number, stop: number, outcome: Outcome): void {
    this.#running--;
    const wall = stop - start;
    this.#accounted += wall;
    this.slotSeconds += wall;
    this.#meteredCpu += task.meteredCpu;
    const at = this.#windowKinds.push(kind) - 1;
    this.#windowSeconds[at] = outcome === 'done' ? Math.max(0, wall - task.metered) : wall;
    this.#windowOutcomes.push(outcome);
    this.#log.add(start, stop, kind.number, kind.number);
    if (stop - this.#windowStart >= WINDOW_SECONDS || at + 1 === WINDOW_TASKS) this.#settleWindow(stop);
  }

  /**
   * Runs work of the isolate for a task, `serialize` or `deserialize`. The work counts as `execute` of the task's
   * kind, in seconds, bytes and number of calls.
   */
  beside<T>(
    kind: Kind,
    task: TaskNumber,
    action: 'serialize' | 'deserialize',
    work: () => T,
    nbytes: (value: T) => number,
  ): T {
    const start = this.#clock();
    const value = work();
    const stop = this.#clock();
    const bytes = nbytes(value);
    this.#accounted += stop - start;
    kind.entry(action, 'seconds').add(stop - start);
    kind.entry(action, 'bytes').add(bytes);
    kind.entry(action, 'count').add(1);
    if (stop - start >= SEEN_SECONDS) this.#note({ action, start, stop, ...task, nbytes: bytes });
    return value;
  }

  now(): number {
    return this.#clock();
  }

  idleSeconds(): number {
    return idleSeconds();
  }

  /** Returns the CPU seconds of this thread; NaN if they cannot be read. */
  cpuSeconds(): number {
    return this.#cpuClock?.() ?? Number.NaN;
  }

  /**
   * Records that a task waited for a promise from `start` to `stop`. Meanwhile the event loop was idle for `idle`
   * seconds, and the thread used `cpu` CPU seconds.
   */
  awaited(task: TaskNumber, start: number, stop: number, idle: number, cpu: number): void {
    const end = Math.min(stop, start + idleTime(stop - start, idle, cpu));
    if (end - start >= SEEN_AWAIT_SECONDS)
      this.#note({ action: 'await', start, stop: end, ...task, nbytes: 0 });
  }

  /** Counts the import of modules before a batch. */
  imported(kind: Kind, seconds: number): void {
    if (seconds > 0) kind.entry('import', 'seconds').add(seconds);
  }

  /** The isolate starts or resumes work on a batch. */
  enterBatch(): void {
    this.#busySince = this.#clock();
    this.#accountedThen = this.#accounted;
  }

  /**
   * The isolate has worked on a batch up to `now`. Time that belongs to no task is `executor`: claiming tasks, reading
   * messages, reporting.
   */
  leaveBatch(kind: Kind, now: number): void {
    const seconds = now - this.#busySince - (this.#accounted - this.#accountedThen);
    if (seconds > 0) {
      kind.entry('executor', 'seconds').add(seconds);
      this.#accounted += seconds;
    }
    this.#busySince = now;
    this.#accountedThen = this.#accounted;
  }

  /** Returns the reportable intervals since the last call. */
  takeWork(): IsolateWork[] {
    const work = this.#work;
    this.#work = [];
    return work;
  }

  #note(work: IsolateWork): void {
    if (this.#work.length < MAX_WORK) this.#work.push(work);
  }

  /** Divides the CPU time since the last reading. Call it when the isolate becomes idle. */
  flush(): void {
    if (this.#windowKinds.length > 0) this.#settleWindow(this.#clock());
  }

  /** Records that no task runs any more. */
  leave(): void {
    this.flush();
    meterContext.enterWith(undefined);
  }

  close(): void {
    this.#gc.disconnect();
  }

  #openWindow(start: number): void {
    this.#windowOpen = true;
    this.#windowStart = start;
    this.#windowCpu = this.#cpuClock?.() ?? 0;
    this.#meteredCpu = 0;
  }

  #settleWindow(now: number): void {
    const kinds = this.#windowKinds;
    let total = 0;
    for (let index = 0; index < kinds.length; index++) total += this.#windowSeconds[index]!;
    const used = this.#cpuClock === undefined ? 0 : this.#cpuClock() - this.#windowCpu - this.#meteredCpu;
    const share = total === 0 ? 0 : Math.min(1, Math.max(0, used / total));
    for (let index = 0; index < kinds.length; index++)
      this.#settle(kinds[index]!, this.#windowSeconds[index]!, share, this.#windowOutcomes[index]!);
    kinds.length = 0;
    this.#windowOutcomes.length = 0;
    this.#windowOpen = false;
    if (this.#running > 0) this.#openWindow(now);
    for (const { kind, seconds } of this.#collections.splice(0)) moveToGc(kind, seconds);
  }

  #settle(kind: Kind, seconds: number, share: number, outcome: Outcome): void {
    if (outcome !== 'done') {
      kind.entry(outcome, 'seconds').add(seconds);
    } else if (this.#cpuClock === undefined) {
      kind.entry('other', 'seconds').add(seconds);
    } else {
      const cpu = seconds * share;
      kind.entry('thread-cpu', 'seconds').add(cpu);
      kind.entry('thread-noncpu', 'seconds').add(seconds - cpu);
    }
  }

  /** Adds a metric. All the time of a failed task counts as lost; its other metrics do not. */
  #count(kind: Kind, { label, value, unit }: Digest, outcome: Outcome): void {
    if (unit === 'seconds' && outcome !== 'done') return;
    kind.entry(label, unit).add(value);
  }

  /** Assigns a garbage collection to the task in which it happened: moves it from CPU time to `gc`. */
  #collected(start: number, seconds: number): void {
    if (seconds >= SEEN_GC_SECONDS)
      this.#note({ action: 'gc', start, stop: start + seconds, run: NO_RUN, id: -1, nbytes: 0 });
    const [number] = Array.from(this.#log.between(start, start).tasks);
    const kind = number === undefined ? undefined : this.#byNumber[number];
    if (kind === undefined) {
      this.#ledger.add(['memory-monitor', 'gc', 'seconds'], seconds);
      return;
    }
    if (this.#windowKinds.length > 0) this.#collections.push({ kind, seconds });
    else moveToGc(kind, seconds);
  }

  #forgetKinds(): void {
    this.flush();
    this.#log.forget(Number.POSITIVE_INFINITY);
    this.#kinds.clear();
    this.#byNumber = [];
  }
}

function moveToGc(kind: Kind, seconds: number): void {
  const known = (activity: string): number => kind.entry(activity, 'seconds').total;
  const parts = collectionParts(seconds, known('thread-cpu'), known('thread-noncpu'), known('other'));
  for (const [activity, part] of Object.entries(parts)) {
    if (part <= 0) continue;
    kind.entry(activity, 'seconds').add(-part);
    kind.entry('gc', 'seconds').add(part);
  }
}

/**
 * Divides the seconds of a garbage collection between a kind's activities. A collection computes, so its seconds are
 * CPU time. If it took longer than all available CPU time, it waited for a core like the task, and has its share of
 * both.
 */
export function collectionParts(
  seconds: number,
  cpu: number,
  noncpu: number,
  other: number,
): Readonly<Record<'thread-cpu' | 'thread-noncpu' | 'other', number>> {
  const inside = Math.min(seconds, cpu + noncpu);
  const own = inside <= cpu ? inside : cpu * (inside / (cpu + noncpu));
  return { 'thread-cpu': own, 'thread-noncpu': inside - own, other: Math.min(seconds - inside, other) };
}

export type TaskKind = Kind;
