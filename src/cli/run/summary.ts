// Computes the summary of `longpole run` from a trace. The same numbers are printed as text and written as JSON.
import {
  type CriticalPath,
  computationCount,
  criticalPath,
  cutOffTexts,
  type FailedTask,
  type Finding,
  failedTaskCount,
  failedTasks,
  findings,
  lostRunCount,
  nothingFoundIn,
  notSimulated,
  type ProgramTimes,
  programTimes,
  recordsTransfers,
  repeatedCount,
  type Speedup,
  skippedTasks,
  speedups,
  spilledResults,
  workerShares,
} from '../../api/analysis.js';
import type { Trace } from '../../api/trace.js';
import { countText } from '../../base/words.js';

/** Times in seconds, sizes in bytes, shares from 0 to 1. */
export interface Summary {
  /** Number of runs of tasks by their final state. */
  readonly tasks: {
    memory: number;
    erred: number;
    cancelled: number;
    /** Without runs that ended because the task exceeded its timeout: `failedTasks` counts these tasks. */
    lost: number;
    /** Runs in `erred` after which the task ran again. */
    retried: number;
    /** Tasks that did not run because another task failed. */
    skipped: number;
  };
  /** Tasks that failed and did not run again, also of which each run was lost with its worker; at most 20. */
  readonly failed: readonly FailedTask[];
  /** Number of all these tasks. */
  readonly failedTasks: number;
  /** Sentences about tasks that had not ended when a client or cluster closed, or when the program ended. */
  readonly cutOff: readonly string[];
  /** Sentence about workers that ended, if they did and no run of a task was recorded; else null. */
  readonly noTaskEnded: string | null;
  readonly computations: number;
  /** Seconds from the first submission to the last result, or to the end of the last run without result; null if no task ran. */
  readonly makespan: number | null;
  /** Seconds that the program ran before its first computation and after its last result; null if no task ran. */
  readonly outside: ProgramTimes | null;
  readonly computed: number;
  /** Workers with tasks, the busiest first. */
  readonly workers: readonly WorkerSummary[];
  /** Prefixes by computed time, longest first. */
  readonly prefixes: readonly PrefixSummary[];
  /** Transferred bytes; null if the trace does not record them. Local schedulers record only large copies by the program. */
  readonly moved: {
    readonly betweenWorkers: number;
    /** Bytes sent by tasks of Dask's P2P shuffles, also within a worker; not included in `betweenWorkers`. */
    readonly shuffled: number;
    readonly toWorkers: number;
    readonly toProgram: number;
    /** Bytes written to disk. */
    readonly spilled: number;
    /** Bytes in memory of the results that were written to disk, which may be compressed there. */
    readonly spilledResults: number;
  } | null;
  readonly longPole: LongPole | null;
  readonly findings: readonly Finding[];
  /** Text about the run if there are no findings; else empty. */
  readonly nothingFound: string;
  /** Predicted effect of tasks that are twice as fast, for the five prefixes with the longest computed time. */
  readonly speedups: readonly Speedup[];
  /** Why there are no predictions, e.g. after the loss of workers; else empty. */
  readonly notSimulated: string;
}

export interface WorkerSummary {
  readonly name: string;
  readonly tasks: number;
  readonly computed: number;
  /**
   * Share of the time of the worker's threads in which tasks held them, while the worker existed within the makespan. A task
   * also holds its thread while it awaits promises or waits for a core.
   */
  readonly busy: number;
  /** Part of `computed` in which tasks awaited promises. */
  readonly awaited: number;
}

export interface PrefixSummary {
  readonly prefix: string;
  readonly tasks: number;
  readonly erred: number;
  readonly computed: number;
  readonly longest: number | null;
  readonly nbytes: number;
}

export interface LongPole {
  /** Names of lost workers, if the parts that wait for a worker without `behind` wait until these are replaced. */
  readonly replaced: readonly string[];
  /** Duration of the run with unlimited workers. */
  readonly floor: number;
  readonly byKind: CriticalPath['byKind'];
  readonly byPrefix: CriticalPath['byPrefix'];
  /** Parts of the path, longest first. */
  readonly parts: readonly {
    readonly kind: string;
    readonly prefix: string | null;
    /** Prefix of the tasks that kept the awaited worker busy, or the shared object that the task awaited, e.g. `Queue 'q'`. */
    readonly behind: string | null;
    readonly seconds: number;
  }[];
}

/** Index of `await` in the actions of `trace.intervals`. */
const AWAIT = 9;
/** Topics of events about workers that ended. */
const WORKER_LOST = 'worker-lost';
const WORKER_ENDS = [WORKER_LOST, 'worker-restarted'];
/** Kind of a part of the critical path. */
const WAITING = 'waiting for a worker';
/** Maximum number of parts of the long pole. */
const MAX_PARTS = 20;

export function summarise(trace: Trace): Summary {
  const { totals } = trace;
  const { states, pairs, spilled } = totals;
  const path = criticalPath(trace);
  const found = findings(trace);
  const ran = path.makespan >= 0;
  const moved = {
    betweenWorkers: 0,
    shuffled: shuffledBytes(trace),
    toWorkers: 0,
    toProgram: 0,
    spilled,
    spilledResults: spilledResults(trace).nbytes,
  };
  for (const { from, to, nbytes } of pairs) {
    if (from >= 0 && to >= 0) moved.betweenWorkers += nbytes;
    else if (to >= 0) moved.toWorkers += nbytes;
    else moved.toProgram += nbytes;
  }
  const [memory = 0, erred = 0, cancelled = 0] = states;
  const skipped = skippedTasks(trace);
  return {
    tasks: {
      memory,
      erred,
      cancelled: cancelled - skipped.rows.size + skipped.cancelled,
      lost: lostRunCount(trace),
      retried: repeatedCount(trace),
      skipped: skipped.recorded + skipped.others,
    },
    failed: failedTasks(trace),
    failedTasks: failedTaskCount(trace),
    cutOff: cutOffTexts(trace),
    noTaskEnded: trace.tasks.length === 0 ? endsOfWorkers(trace) : null,
    computations: computationCount(trace),
    makespan: ran ? path.makespan : null,
    outside: programTimes(trace) ?? null,
    computed: [...totals.prefixes.values()].reduce((sum, { seconds }) => sum + seconds, 0),
    workers: ran ? workersOf(trace, skipped.rows) : [],
    prefixes: prefixesOf(trace, skipped.byPrefix),
    moved: recordsTransfers(trace) || Object.values(moved).some((nbytes) => nbytes > 0) ? moved : null,
    longPole: ran ? longPoleOf(path, lostNames(trace)) : null,
    findings: found,
    nothingFound: found.length === 0 ? nothingFoundIn(trace) : '',
    speedups: speedups(trace),
    notSimulated: notSimulated(trace),
  };
}

/** Returns the bytes of P2P shuffles. distributed counts them in a separate metric, not in the log of transfers. */
function shuffledBytes({ totals }: Trace): number {
  return totals.metrics
    .filter(({ context, unit }) => context === 'p2p' && unit === 'bytes')
    .filter(({ activity }) => activity === 'background-comms, process')
    .reduce((sum, { value }) => sum + value, 0);
}

/** Returns how often workers ended, and why the first did; null if none ended. */
function endsOfWorkers({ events, strings }: Trace): string | null {
  const reasons = Array.from(events.text, (text) => strings.get(text)).filter((_text, row) =>
    WORKER_ENDS.includes(strings.get(events.topic[row]!)),
  );
  const [first] = reasons;
  if (first === undefined) return null;
  return `No task ended, because its workers ended ${countText(reasons.length, 'time')}. The first reason: ${first}`;
}

/** Returns the prefixes with tasks other than the skipped ones. */
function prefixesOf({ totals }: Trace, skipped: ReadonlyMap<string, number>): PrefixSummary[] {
  return [...totals.prefixes.values()]
    .map(({ prefix, count, erred, seconds, longest, nbytes }) => ({
      prefix,
      tasks: count - (skipped.get(prefix) ?? 0),
      erred,
      computed: seconds,
      longest: Number.isNaN(longest) ? null : longest,
      nbytes,
    }))
    .filter(({ tasks: count }) => count > 0)
    .sort((a, b) => b.computed - a.computed);
}

function workersOf(trace: Trace, skipped: ReadonlySet<number>): WorkerSummary[] {
  const counts = new Float64Array(trace.workers.length);
  for (const [row, worker] of trace.tasks.worker.entries())
    if (worker >= 0 && !skipped.has(row)) counts[worker]! += 1;
  const awaited = awaitedSeconds(trace);
  return workerShares(trace)
    .map(({ name, busy }, row) => ({
      name,
      tasks: counts[row]!,
      computed: trace.totals.busy[row] ?? 0,
      busy,
      awaited: awaited[row]!,
    }))
    .sort((a, b) => b.busy - a.busy);
}

/** Returns the seconds in which tasks of each worker awaited promises. */
function awaitedSeconds({ workers, intervals }: Trace): Float64Array {
  const { action, worker, start, stop } = intervals;
  const seconds = new Float64Array(workers.length);
  for (let row = 0; row < intervals.length; row++)
    if (action[row] === AWAIT && worker[row]! >= 0) seconds[worker[row]!]! += stop[row]! - start[row]!;
  return seconds;
}

function lostNames({ events, workers, strings }: Trace): ReadonlySet<string> {
  const lost = Array.from(events.worker).filter(
    (worker, row) => worker >= 0 && strings.get(events.topic[row]!) === WORKER_LOST,
  );
  return new Set(lost.map((worker) => (workers.name[worker]! < 0 ? '' : strings.get(workers.name[worker]!))));
}

function longPoleOf(path: CriticalPath, lost: ReadonlySet<string>): LongPole {
  const parts = path
    .summary()
    .head(MAX_PARTS)
    .rows.map(({ Kind, Prefix, Behind, 'Duration (s)': seconds }) => ({
      kind: String(Kind),
      prefix: Prefix === null ? null : String(Prefix),
      behind: Behind === null ? null : String(Behind),
      seconds: Number(seconds),
    }));
  // The objects of the parts take time and memory, so they are made only if a worker was lost.
  const awaited = (lost.size === 0 ? [] : path.parts).filter(
    ({ kind, behind }) => kind === WAITING && behind === undefined,
  );
  const names = [...new Set(awaited.map(({ worker = '' }) => worker))];
  const replaced = names.every((name) => lost.has(name)) ? names.sort() : [];
  return { replaced, floor: path.floor, byKind: path.byKind, byPrefix: path.byPrefix, parts };
}
