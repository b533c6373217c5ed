// What a rule says, and what rules share: the numbers of a trace that most of them ask for, each computed once.
import { crewText } from '../../base/words.js';
import type { Trace } from '../../trace/trace.js';
import { type CriticalPath, criticalPath } from '../criticalPath.js';
import { type Lanes, lanesOf } from '../lanes.js';
import { PATH_KINDS, type PathKind } from '../path/pathParts.js';
import { recordedConditions } from '../simulation/conditions.js';
import { isRemote, threadsPerWorker } from '../simulation/machine.js';
import type { ReplayConditions } from '../simulation/replayTypes.js';
import { TimeBins } from '../timeBins.js';
import { firstStart } from '../workerStarts.js';

/** One per rule. */
export type FindingCode =
  | 'tasks-too-small'
  | 'serial-tail'
  | 'serial-stretch'
  | 'stragglers'
  | 'worker-skew'
  | 'transfer-bound'
  | 'serialization-bound'
  | 'spill-bound'
  | 'garbage-collection'
  | 'oversized-arguments'
  | 'gathered-results'
  | 'synchronous-io'
  | 'asynchronous-wait'
  | 'event-loop-starvation'
  | 'scheduler-bound'
  | 'lack-of-parallelism'
  | 'cpu-oversubscription'
  | 'client-bound'
  | 'memory-bound'
  | 'worker-bound'
  | 'lost-work';

/** `high`: measured directly; `medium`: inferred, another cause would look much the same; `low`: a hint. */
export type Confidence = 'high' | 'medium' | 'low';

export interface Evidence {
  /** One sentence with the numbers that count. */
  readonly text: string;
  /** The same and more for programs; units are in the names, else seconds and bytes. */
  readonly numbers: Readonly<Record<string, number>>;
  /** Keys of tasks that show it, at most five. */
  readonly tasks: readonly string[];
  /** The question whose table shows more; see QUESTIONS. */
  readonly question: string;
}

export interface Finding {
  readonly code: FindingCode;
  /** What is the matter, in one sentence. */
  readonly title: string;
  /** Seconds of the makespan that it costs: what would be gained at most if it were fixed. */
  readonly seconds: number;
  readonly confidence: Confidence;
  readonly evidence: Evidence;
  /** What to try. */
  readonly advice: string;
}

/** Undefined: nothing of the kind. */
export type Rule = (facts: Facts) => Finding | undefined;

/** Parts into which rules divide a run. */
export const BINS = 1000;
const MAX_TASKS = 5;

export class Facts {
  readonly trace: Trace;
  readonly path: CriticalPath;
  readonly lanes: Lanes;
  /** What passes between tasks, and how many threads there were. */
  readonly conditions: ReplayConditions;
  /** Seconds that all tasks computed together. */
  readonly work: number;
  /** Tasks that ran. */
  readonly tasks: number;
  #running: Float64Array | undefined;
  #firstStart: number | undefined;

  constructor(trace: Trace) {
    this.trace = trace;
    this.path = criticalPath(trace);
    this.lanes = lanesOf(trace);
    this.conditions = recordedConditions(trace);
    this.tasks = this.lanes.spans.rows.length;
    let work = 0;
    for (const row of this.lanes.spans.rows) work += trace.tasks.duration[row]!;
    this.work = work;
  }

  get makespan(): number {
    return this.path.makespan;
  }

  /** Threads that ran tasks at the same time; of Longpole's workers each has one. */
  get workers(): number {
    return this.conditions.workers;
  }

  /** So many threads in words: as workers where all of these have as many threads, e.g. `2 workers of 2 threads`. */
  crew(threads: number): string {
    const each = threadsPerWorker(this.trace);
    const isWhole = Number.isInteger(threads / each);
    return isWhole ? crewText(threads / each, each) : crewText(threads, Number.NaN);
  }

  /** When the first task started: what was before is the start of the workers. */
  get firstStart(): number {
    this.#firstStart ??= firstStart(this.trace);
    return this.#firstStart;
  }

  /** Seconds from then on: what is wrong with how tasks run is no smaller because workers took long to start. */
  get active(): number {
    return this.path.stop - this.firstStart;
  }

  /** What tasks lost together, as seconds of the run: divided by how many ran at the same time while any did. */
  divided(seconds: number): number {
    const { running, makespan } = this;
    const any = running.reduce((sum, mean) => sum + Math.min(1, mean), 0) / running.length;
    const together = this.work / (any * makespan);
    return seconds / Math.max(1, Math.min(this.workers, together || 1));
  }

  /** Workers are processes of Python, which advice has to fit. */
  get isDask(): boolean {
    return isRemote(this.trace);
  }

  /** Seconds of the path by kind. */
  onPath(kind: PathKind): number {
    return this.path.byKind.find((sum) => sum.kind === kind)?.seconds ?? 0;
  }

  /** Tasks that ran at the same time: the mean of each thousandth of the run. */
  get running(): Float64Array {
    if (this.#running === undefined) {
      const bins = new TimeBins(this.path.start, this.path.stop, BINS);
      const { started, stopped } = this.trace.tasks;
      for (const row of this.lanes.spans.rows) bins.add(started[row]!, stopped[row]!);
      this.#running = bins.means();
    }
    return this.#running;
  }

  /** The mean of `running` from one time to another. */
  runningBetween(start: number, stop: number): number {
    const { running, path } = this;
    const from = Math.floor(((start - path.start) / path.makespan) * BINS);
    const to = Math.ceil(((stop - path.start) / path.makespan) * BINS);
    const bins = running.subarray(Math.max(0, from), Math.min(BINS, Math.max(from + 1, to)));
    let sum = 0;
    for (const mean of bins) sum += mean;
    return sum / bins.length;
  }

  /** What stands for a kind in the columns of the path. */
  kindNumber(kind: PathKind): number {
    return PATH_KINDS.indexOf(kind);
  }

  /** Parts of the path of one kind, in order. */
  *parts(kind: PathKind): IterableIterator<{ start: number; stop: number; row: number }> {
    const { columns } = this.path;
    const number = this.kindNumber(kind);
    for (let part = 0; part < columns.length; part++) {
      if (columns.kind[part] !== number) continue;
      yield { start: columns.start[part]!, stop: columns.stop[part]!, row: columns.row[part]! };
    }
  }

  /** Keys of the tasks in the longest parts of the path of one kind. */
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

  /** Keys of rows of tasks. */
  keys(rows: Iterable<number>): string[] {
    return [...rows].slice(0, MAX_TASKS).map((row) => this.trace.tasks.keyOf(row));
  }

  prefixName(id: number): string {
    return id < 0 ? '' : this.trace.strings.get(id);
  }
}
