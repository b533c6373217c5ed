// The types of findings and rules, and the facts of a trace that several rules need, each computed once.
import { oncePer, sumOf } from '../../base/lookUps.js';
import { crewText } from '../../base/words.js';
import { type Trace, textOf } from '../../trace/trace.js';
import { type CriticalPath, criticalPath } from '../criticalPath.js';
import { eachUse, type Lanes, lanesOf } from '../lanes.js';
import { PATH_KINDS, type PathKind } from '../path/pathParts.js';
import { readiness, recordedConditions } from '../simulation/conditions.js';
import { threadsPerWorker } from '../simulation/machine.js';
import type { ReplayConditions } from '../simulation/replayTypes.js';
import { mean } from '../statistics.js';
import { TimeBins } from '../timeBins.js';
import { firstStart, isRemote } from '../workerLives.js';

/** Identifies the rule that made a finding. docs/findings.md explains each, and a test compares both. */
export const FINDING_CODES = [
  'tasks-too-small',
  'serial-tail',
  'serial-stretch',
  'stragglers',
  'worker-skew',
  'transfer-bound',
  'serialization-bound',
  'spill-bound',
  'garbage-collection',
  'oversized-arguments',
  'gathered-results',
  'synchronous-io',
  'asynchronous-wait',
  'event-loop-starvation',
  'scheduler-bound',
  'lack-of-parallelism',
  'cpu-oversubscription',
  'client-bound',
  'memory-bound',
  'worker-bound',
  'lost-work',
  'failed-attempts',
  'outside-computations',
  'lock-contention',
  'shared-wait',
  'slow-worker',
  'uneven-rounds',
  'slow-first-calls',
  'cancelled-tasks',
  'slow-imports',
  'unreachable-worker',
  'repeated-tasks',
  'stopped-program',
  'blocked-workers',
  'worker-plugin',
  'nested-graphs',
  'cpu-limit',
  'console-output',
] as const;

export type FindingCode = (typeof FINDING_CODES)[number];

/** `high`: measured directly. `medium`: inferred, other causes would look similar. `low`: a hint. */
export type Confidence = 'high' | 'medium' | 'low';

export interface Evidence {
  /** One or two sentences with the most important numbers. */
  readonly text: string;
  /** These and more numbers for programs. Names contain the unit; otherwise times are in seconds and sizes in bytes. */
  readonly numbers: Readonly<Record<string, number>>;
  /** Keys of at most five tasks that show the problem. */
  readonly tasks: readonly string[];
  /** Name of the question, see QUESTIONS, that shows more details. */
  readonly question: string;
}

export interface Finding {
  readonly code: FindingCode;
  /** The problem in one sentence. */
  readonly title: string;
  /** Seconds that the problem adds to the makespan: an upper limit of the gain from a fix. */
  readonly seconds: number;
  readonly confidence: Confidence;
  readonly evidence: Evidence;
  /** A change to try. */
  readonly advice: string;
}

/** A finding as rules return it, with the fields of its evidence beside the others. */
export type Found = Omit<Finding, 'evidence'> & Evidence;

/** Looks for one problem in a run. Returns undefined if the run does not have it. */
export type Rule = (facts: Facts) => Found | undefined;

/** Share of the makespan below which a finding is left out. */
export const MIN_COST = 0.05;
/** Seconds below which a finding is left out. */
export const MIN_SECONDS = 10e-3;
/** Number of equal time bins into which rules divide a run. */
export const BINS = 1000;
const MAX_TASKS = 5;

export class Facts {
  readonly trace: Trace;
  readonly path: CriticalPath;
  readonly lanes: Lanes;
  /** Recorded overheads, bandwidths and number of threads. */
  readonly conditions: ReplayConditions;
  /** Sum of the durations of all tasks, seconds. */
  readonly work: number;
  readonly tasks: number;
  /** Time at which the first task started. Before that time, workers started. */
  readonly firstStart: number;

  constructor(trace: Trace) {
    this.trace = trace;
    this.path = criticalPath(trace);
    this.lanes = lanesOf(trace);
    this.conditions = recordedConditions(trace);
    this.tasks = this.lanes.spans.rows.length;
    this.firstStart = firstStart(trace);
    this.work = sumOf(this.lanes.spans.rows, (row) => trace.tasks.duration[row]!);
  }

  get makespan(): number {
    return this.path.makespan;
  }

  /** Number of threads that ran tasks. A Longpole worker has one thread. */
  get workers(): number {
    return this.conditions.workers;
  }

  /** Returns a number of threads in words, as whole workers if possible, e.g. `2 workers of 2 threads`. */
  workersText(threads: number): string {
    const each = threadsPerWorker(this.trace);
    const isWhole = Number.isInteger(threads / each);
    return isWhole ? crewText(threads / each, each) : crewText(threads, Number.NaN);
  }

  /**
   * Seconds from the first task's start to the end. Rules compare with it so that slow worker starts hide no problem.
   */
  get active(): number {
    return this.path.stop - this.firstStart;
  }

  /**
   * Converts seconds lost by all tasks to seconds of the run. While other tasks are ready, all threads share what is
   * saved, including threads that start later. Otherwise only the running tasks end earlier.
   */
  secondsOfRun(seconds: number): number {
    const { running, waiting, workers } = this;
    let [all, ofRun] = [0, 0];
    for (let bin = 0; bin < running.length; bin++) {
      const together = Math.min(workers, Math.max(1, running[bin]!));
      const queued = Math.min(1, waiting[bin]!);
      all += running[bin]!;
      ofRun += running[bin]! * (queued / workers + (1 - queued) / together);
    }
    return all > 0 ? (seconds * ofRun) / all : seconds;
  }

  /** True if the workers run Python on Dask, for which other advice applies. */
  get isDask(): boolean {
    return isRemote(this.trace);
  }

  /** Seconds of the critical path with this kind. */
  onPath(kind: PathKind): number {
    return this.path.byKind.find((sum) => sum.kind === kind)?.seconds ?? 0;
  }

  /** Mean number of running tasks in each of BINS parts of the run. */
  get running(): Float64Array {
    return runningTasks(this);
  }

  /** Mean number of tasks that were ready and had not started, in each of BINS parts of the run. */
  get waiting(): Float64Array {
    return waitingTasks(this);
  }

  runningBetween(start: number, stop: number): number {
    return mean(this.#between(this.running, start, stop));
  }

  /** Returns the share of the time between two times in which at least this many tasks were ready and had not started. */
  queuedBetween(start: number, stop: number, tasks: number): number {
    return mean(this.#between(this.waiting, start, stop).map((waiting) => (waiting >= tasks ? 1 : 0)));
  }

  /** Returns the bins from one time to another, at least one. */
  #between(means: Float64Array, start: number, stop: number): Float64Array {
    const { path } = this;
    const from = Math.floor(((start - path.start) / path.makespan) * BINS);
    const to = Math.ceil(((stop - path.start) / path.makespan) * BINS);
    return means.subarray(Math.max(0, from), Math.min(BINS, Math.max(from + 1, to)));
  }

  /** Returns the number that represents a kind in the columns of the path. */
  kindNumber(kind: PathKind): number {
    return PATH_KINDS.indexOf(kind);
  }

  /** Yields the parts of the path with this kind, in order of time. */
  *parts(kind: PathKind): IterableIterator<{ start: number; stop: number; row: number }> {
    const { columns } = this.path;
    const number = this.kindNumber(kind);
    for (let part = 0; part < columns.length; part++) {
      if (columns.kind[part] !== number) continue;
      yield { start: columns.start[part]!, stop: columns.stop[part]!, row: columns.row[part]! };
    }
  }

  /** Returns the keys of the tasks in the longest parts of the path with this kind, at most five. */
  pathTasks(kind: PathKind): string[] {
    const longest: { row: number; seconds: number }[] = [];
    for (const { start, stop, row } of this.parts(kind)) {
      const seconds = stop - start;
      if (row < 0 || seconds <= (longest[MAX_TASKS - 1]?.seconds ?? 0)) continue;
      const same = longest.find((one) => one.row === row);
      if (same === undefined) longest.push({ row, seconds });
      else same.seconds = Math.max(same.seconds, seconds);
      longest.sort((one, other) => other.seconds - one.seconds);
      longest.length = Math.min(longest.length, MAX_TASKS);
    }
    return this.keys(longest.map(({ row }) => row));
  }

  /** Returns the keys of the first five tasks of these rows. A task may have several rows, e.g. of failed attempts. */
  keys(rows: Iterable<number>): string[] {
    const { id } = this.trace.tasks;
    const first = new Map<number, number>();
    for (const row of rows) {
      if (first.size === MAX_TASKS) break;
      if (!first.has(id[row]!)) first.set(id[row]!, row);
    }
    return Array.from(first.values(), (row) => this.trace.tasks.keyOf(row));
  }

  prefixName(id: number): string {
    return textOf(this.trace.strings, id);
  }

  /** Returns the rows of the tasks whose prefixes have these names. */
  rowsOf(names: { has(name: string): boolean }): Int32Array {
    const { prefix } = this.trace.tasks;
    return this.lanes.spans.rows.filter((row) => names.has(this.prefixName(prefix[row]!)));
  }

  /** Returns BINS empty parts of the run. */
  bins(): TimeBins {
    return new TimeBins(this.path.start, this.path.stop, BINS);
  }
}

const runningTasks = oncePer((facts: Facts): Float64Array => {
  const bins = facts.bins();
  for (const row of facts.lanes.spans.rows)
    eachUse(facts.trace, row, (start, stop, share) => bins.add(start, stop, share));
  return bins.means();
});

const waitingTasks = oncePer((facts: Facts): Float64Array => {
  const { trace, lanes } = facts;
  const bins = facts.bins();
  for (const row of lanes.spans.rows) bins.add(readiness(trace, row).time, trace.tasks.started[row]!);
  return bins.means();
});
