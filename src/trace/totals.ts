// Sums over a whole run. A live trace keeps them exact while it evicts rows; `rowTotals.ts` computes them from rows.

import { keySplit } from '../base/keySplit.js';
import { getOrMake } from '../base/lookUps.js';
import { resizedFloat64 } from '../base/resized.js';
import { ACTIONS, type Action, TASK_ERRED, TASK_MEMORY, TASK_STATES } from '../protocol/clusterObserver.js';
import { OTHERS } from '../protocol/metrics.js';
import { TaskCounts } from '../protocol/taskCounts.js';
import { OfferedTime } from './offeredTime.js';
import { WorkerSums } from './workerSums.js';

/** Sums over the runs of one prefix. Durations include all runs that started, whether or not they gave a result. */
export interface PrefixTotals {
  readonly prefix: string;
  /** Runs that ended, in any state. */
  readonly count: number;
  readonly erred: number;
  /** Total computing time. */
  readonly seconds: number;
  /** Total size of the results in bytes. */
  readonly nbytes: number;
  /** Durations of the shortest and the longest run in seconds; NaN if no run started. */
  readonly shortest: number;
  readonly longest: number;
  /** Runs by bucket, see `durationBucket`. */
  readonly durations: Float64Array;
}

export interface ActionTotals {
  readonly action: Action;
  readonly count: number;
  readonly seconds: number;
  readonly nbytes: number;
}

/**
 * Transfers between two workers, which are rows of `trace.workers`, or -1 for a client. A transfer that both sides
 * report counts once.
 */
export interface PairTotals {
  readonly from: number;
  readonly to: number;
  readonly count: number;
  readonly nbytes: number;
  readonly compressed: number;
  readonly seconds: number;
}

export interface MetricTotals {
  readonly context: string;
  readonly span: string;
  readonly prefix: string;
  readonly activity: string;
  readonly unit: string;
  readonly value: number;
}

export interface TraceTotals {
  /** Runs by state, in the order of TASK_STATES. */
  readonly states: Float64Array;
  /** Sums by prefix. Prefixes beyond the first 10,000 (keys without a token) are summed as OTHERS. */
  readonly prefixes: ReadonlyMap<string, PrefixTotals>;
  /** Actions that occurred; `compute` is the tasks' own code. */
  readonly actions: readonly ActionTotals[];
  /** Seconds of computing, by row of `trace.workers`. */
  readonly busy: Float64Array;
  readonly pairs: readonly PairTotals[];
  /** Metrics beyond the first 100,000 are summed with span and prefix OTHERS. */
  readonly metrics: readonly MetricTotals[];
  /** First submission in seconds since the epoch, or the first start where submissions are unknown; NaN before it. */
  readonly start: number;
  /**
   * Thread-seconds that connected workers offered while tasks were unfinished. A computation counts from its submission
   * to the latest completion of a run. NaN in reports that lack this sum.
   */
  readonly offered: number;
  /** Bytes written to disk. */
  readonly spilled: number;
}

/** Limit for prefixes. Each needs more than a kilobyte, and keys without a token create a prefix each. */
const MAX_PREFIXES = 10_000;

/** Limit for metrics that are kept apart, some 25 MB. Each span of a prefix has some of its own. */
const MAX_METRICS = 100_000;

/** Four buckets for each factor of two, from about 1 µs to about 68 minutes. The first and the last bucket are open. */
export const DURATION_BUCKETS = 128;
const FIRST_BUCKET = 107 << 2;
const float = new Float32Array(1);
const bits = new Int32Array(float.buffer);

/** Returns the bucket of a duration: the exponent and the first two fraction bits of its float32 value. */
function durationBucket(seconds: number): number {
  float[0] = seconds;
  const bucket = (bits[0]! >> 21) - FIRST_BUCKET;
  return bucket < 0 ? 0 : bucket < DURATION_BUCKETS ? bucket : DURATION_BUCKETS - 1;
}

/** Returns the lower bound of a bucket in seconds; the upper bound is that of `bucket + 1`. */
export function bucketStart(bucket: number): number {
  const at = bucket + FIRST_BUCKET;
  return 2 ** ((at >> 2) - 127) * (1 + (at & 3) / 4);
}

/** Bounds of histograms for Prometheus, as buckets: every factor of two from 8 µs to 1024 s. */
const BOUNDS = Array.from({ length: 28 }, (_, doubling) => 12 + 4 * doubling);
/** Upper bounds in seconds of the buckets of `durationHistogram`; one further bucket is unbounded. */
export const DURATION_BOUNDS: readonly number[] = BOUNDS.map(bucketStart);

/** Returns the runs per bucket of DURATION_BOUNDS, from the runs per `durationBucket`. */
export function durationHistogram(durations: Float64Array): Float64Array {
  const runs = new Float64Array(BOUNDS.length + 1);
  let at = 0;
  for (const [bucket, count] of durations.entries()) {
    if (bucket === BOUNDS[at]) at++;
    runs[at]! += count;
  }
  return runs;
}

/**
 * A growing PrefixTotals. Only a live trace counts tasks, because rows do not contain tasks that were submitted and
 * never ran.
 */
export class PrefixSums implements PrefixTotals {
  readonly prefix: string;
  /** To change them, use `tasksIn`. */
  readonly tasks = new TaskCounts();
  /** The part of `tasks` that belongs to earlier graphs than `#graph`, the last one that changed them. */
  readonly #earlier = new TaskCounts();
  #graph = 0;
  count = 0;
  erred = 0;
  seconds = 0;
  nbytes = 0;
  shortest = Number.NaN;
  longest = Number.NaN;
  readonly durations = new Float64Array(DURATION_BUCKETS);
  /** Seconds in which workers fetched results of the prefix. Only a live trace counts them. */
  fetchSeconds = 0;

  constructor(prefix: string) {
    this.prefix = prefix;
  }

  /** Adds a run. `seconds` is NaN if the run did not start. */
  add(state: number, seconds: number, nbytes: number): void {
    this.count++;
    if (state === TASK_ERRED) this.erred++;
    if (state === TASK_MEMORY && nbytes > 0) this.nbytes += nbytes;
    if (!(seconds >= 0)) return;
    this.seconds += seconds;
    if (!(this.shortest <= seconds)) this.shortest = seconds;
    if (!(this.longest >= seconds)) this.longest = seconds;
    this.durations[durationBucket(seconds)]! += 1;
  }

  /** Returns the counts of tasks, for a change in the graph of this number. */
  tasksIn(graph: number): TaskCounts {
    if (this.#graph !== graph) this.#earlier.set(this.tasks);
    this.#graph = graph;
    return this.tasks;
  }

  /** Returns the part of `tasks` that belongs to the graph of this number, the last one. */
  tasksOf(graph: number): TaskCounts {
    return this.#graph === graph ? this.tasks.without(this.#earlier) : new TaskCounts();
  }

  /** Adds the sums of another prefix, except the durations. `graph`: number of the last graph. */
  include(other: PrefixSums, graph: number): void {
    const { count, erred, seconds, nbytes, shortest, longest } = other;
    this.count += count;
    this.erred += erred;
    this.seconds += seconds;
    this.nbytes += nbytes;
    if (!(this.shortest <= shortest) && !Number.isNaN(shortest)) this.shortest = shortest;
    if (!(this.longest >= longest) && !Number.isNaN(longest)) this.longest = longest;
    this.tasksIn(graph).include(other.tasks);
    this.#earlier.include(other.#graph === graph ? other.#earlier : other.tasks);
  }
}

/** Totals of a run in progress. */
export interface LiveTotals extends TraceTotals {
  readonly prefixes: ReadonlyMap<string, PrefixSums>;
  readonly workers: WorkerSums;
  /**
   * Submission of the current graph in seconds since the epoch; NaN before the first. The current graph has all tasks that
   * were submitted since every earlier task has ended.
   */
  readonly graphStart: number;
  /** Number of the current graph, from 1; 0 before the first. */
  readonly graph: number;
}

/** Growing totals, for the recorder of a live trace and for the rows of other traces. */
export class TotalSums implements LiveTotals {
  readonly states = new Float64Array(TASK_STATES.length);
  readonly prefixes = new Map<string, PrefixSums>();
  busy = new Float64Array(16);
  spilled = 0;
  start = Number.NaN;
  graphStart = Number.NaN;
  graph = 0;
  /** Tasks that have not ended. */
  unfinished = 0;
  readonly offeredTime = new OfferedTime();
  readonly workers = new WorkerSums();
  readonly #actions = ACTIONS.map((action) => ({ action, count: 0, seconds: 0, nbytes: 0 }));
  readonly #pairs = new Map<string, { -readonly [K in keyof PairTotals]: PairTotals[K] }>();
  readonly #metrics = new Map<string, { -readonly [K in keyof MetricTotals]: MetricTotals[K] }>();

  get offered(): number {
    return this.offeredTime.seconds;
  }

  get actions(): readonly ActionTotals[] {
    return this.#actions.filter(({ count }) => count > 0);
  }

  get pairs(): readonly PairTotals[] {
    return [...this.#pairs.values()];
  }

  get metrics(): readonly MetricTotals[] {
    return [...this.#metrics.values()];
  }

  prefix(name: string): PrefixSums {
    let sums = this.prefixes.get(name);
    if (sums === undefined) {
      if (this.prefixes.size >= MAX_PREFIXES && name !== OTHERS) return this.prefix(OTHERS);
      sums = new PrefixSums(name);
      this.prefixes.set(name, sums);
    }
    return sums;
  }

  /** Call before the tasks of a computation are counted. If no other task is unfinished, a new current graph begins. */
  addGraph(submitted: number): void {
    if (this.unfinished > 0) return;
    this.graphStart = submitted;
    this.graph++;
  }

  addStart(time: number): void {
    if (time < this.start || Number.isNaN(this.start)) this.start = time;
  }

  addBusy(worker: number, seconds: number): void {
    if (worker < 0) return;
    if (worker >= this.busy.length)
      this.busy = resizedFloat64(this.busy, Math.max(worker + 1, this.busy.length * 2));
    this.busy[worker]! += seconds;
  }

  /** Adds intervals; `action` is an index into ACTIONS. */
  addAction(action: number, count: number, seconds: number, nbytes: number): void {
    const sums = this.#actions[action];
    if (sums === undefined) return;
    sums.count += count;
    if (seconds > 0) sums.seconds += seconds;
    if (!(nbytes > 0)) return;
    sums.nbytes += nbytes;
    if (sums.action === 'disk-write') this.spilled += nbytes;
  }

  /**
   * Adds a transfer that `worker` reports; `incoming` if `worker` received it. Between two workers, only the receiver's
   * report counts.
   */
  addTransfer(
    worker: number,
    peer: number,
    incoming: boolean,
    nbytes: number,
    compressed: number,
    seconds: number,
  ): void {
    if (!incoming && peer >= 0) return;
    const [from, to] = incoming ? [peer, worker] : [worker, peer];
    const name = `${from} ${to}`;
    const pair = getOrMake(this.#pairs, name, () => ({
      from,
      to,
      count: 0,
      nbytes: 0,
      compressed: 0,
      seconds: 0,
    }));
    pair.count++;
    pair.nbytes += nbytes;
    pair.compressed += compressed;
    pair.seconds += seconds;
  }

  /** Adds the time in which a worker fetched results, in equal parts. Results of prefixes without a task do not count. */
  addFetch(keys: readonly string[], seconds: number): void {
    for (const key of keys) {
      const sums = this.prefixes.get(keySplit(key)) ?? this.prefixes.get(OTHERS);
      if (sums !== undefined) sums.fetchSeconds += seconds / keys.length;
    }
  }

  addMetric(metric: MetricTotals): void {
    const { context, span, prefix, activity, unit, value } = metric;
    const name = `${context}\0${span}\0${prefix}\0${activity}\0${unit}`;
    if (this.#metrics.size >= MAX_METRICS && !this.#metrics.has(name)) {
      const summed = { ...metric, span: span && OTHERS, prefix: prefix && OTHERS };
      if (summed.span !== span || summed.prefix !== prefix) {
        this.addMetric(summed);
        return;
      }
    }
    getOrMake(this.#metrics, name, () => ({ context, span, prefix, activity, unit, value: 0 })).value +=
      value;
  }

  /** Returns a copy that later additions do not change. */
  copy(workers: number): TraceTotals {
    return {
      states: this.states.slice(),
      prefixes: new Map(
        Array.from(this.prefixes)
          .filter(([, { count }]) => count > 0)
          .map(([name, { tasks: _, fetchSeconds: __, ...sums }]) => [
            name,
            { ...sums, durations: sums.durations.slice() },
          ]),
      ),
      actions: this.actions.map((sums) => ({ ...sums })),
      busy: Float64Array.from({ length: workers }, (_, worker) => this.busy[worker] ?? 0),
      pairs: this.pairs.map((sums) => ({ ...sums })),
      metrics: this.metrics.map((sums) => ({ ...sums })),
      spilled: this.spilled,
      start: this.start,
      offered: this.offered,
    };
  }
}
