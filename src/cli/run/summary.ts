// What a run was like, from its trace: the numbers of the summary that `longpole run` prints, and of its JSON.
import {
  type CriticalPath,
  computationCount,
  criticalPath,
  type Finding,
  findings,
  nothingFoundIn,
  recordsTransfers,
  type Speedup,
  speedups,
} from '../../api/analysis.js';
import type { Trace } from '../../api/trace.js';

/** Times in seconds, sizes in bytes, shares from 0 to 1. */
export interface Summary {
  /** Runs of tasks by how they ended. */
  readonly tasks: {
    memory: number;
    erred: number;
    cancelled: number;
    lost: number;
    /** Of those that erred: whose task was run again. */
    retried: number;
  };
  readonly computations: number;
  /** From the first submission to the last result; null where no task ran. */
  readonly makespan: number | null;
  /** That all tasks computed together. */
  readonly computed: number;
  /** Those that ran tasks, the busiest first. */
  readonly workers: readonly WorkerSummary[];
  /** Those that computed longest first. */
  readonly prefixes: readonly PrefixSummary[];
  /** Bytes; null where the trace does not record them, as that of local schedulers. */
  readonly moved: {
    readonly betweenWorkers: number;
    /** That tasks of Dask's P2P shuffles sent, to their own worker too; not in `betweenWorkers`. */
    readonly shuffled: number;
    readonly toWorkers: number;
    readonly toProgram: number;
    readonly spilled: number;
  } | null;
  readonly longPole: LongPole | null;
  readonly findings: readonly Finding[];
  /** Without findings: what the run is made of, in sentences; else empty. */
  readonly nothingFound: string;
  /** What if the tasks of a prefix took half as long: the five prefixes that computed longest. */
  readonly speedups: readonly Speedup[];
}

export interface WorkerSummary {
  readonly name: string;
  readonly tasks: number;
  readonly computed: number;
  /** Of the time that its threads were there, within the makespan. */
  readonly busy: number;
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
  /** That no number of workers makes the run faster than. */
  readonly floor: number;
  readonly byKind: CriticalPath['byKind'];
  readonly byPrefix: CriticalPath['byPrefix'];
  /** What the path is made of, longest first. */
  readonly parts: readonly {
    readonly kind: string;
    readonly prefix: string | null;
    /** Of waiting for a worker: what that was busy with. */
    readonly behind: string | null;
    readonly seconds: number;
  }[];
}

/** A state of `trace.tasks`, and its place in `totals.states`. */
const ERRED = 1;
/** Of the long pole: what is less is summed up with others of its kind. */
const MAX_PARTS = 20;

export function summarise(trace: Trace): Summary {
  const { states, prefixes, pairs, spilled } = trace.totals;
  const path = criticalPath(trace);
  const found = findings(trace);
  const ran = path.makespan >= 0;
  const moved = { betweenWorkers: 0, shuffled: shuffledBytes(trace), toWorkers: 0, toProgram: 0, spilled };
  for (const { from, to, nbytes } of pairs) {
    if (from >= 0 && to >= 0) moved.betweenWorkers += nbytes;
    else if (to >= 0) moved.toWorkers += nbytes;
    else moved.toProgram += nbytes;
  }
  const [memory = 0, erred = 0, cancelled = 0, lost = 0] = states;
  return {
    tasks: { memory, erred, cancelled, lost, retried: erred === 0 ? 0 : retriedRuns(trace) },
    computations: computationCount(trace),
    makespan: ran ? path.makespan : null,
    computed: [...prefixes.values()].reduce((sum, { seconds }) => sum + seconds, 0),
    workers: ran ? workersOf(trace, path) : [],
    prefixes: [...prefixes.values()]
      .map(({ prefix, count, erred: failed, seconds, longest, nbytes }) => ({
        prefix,
        tasks: count,
        erred: failed,
        computed: seconds,
        longest: Number.isNaN(longest) ? null : longest,
        nbytes,
      }))
      .sort((a, b) => b.computed - a.computed),
    moved: recordsTransfers(trace) || moved.shuffled > 0 || moved.spilled > 0 ? moved : null,
    longPole: ran ? longPoleOf(path) : null,
    findings: found,
    nothingFound: found.length === 0 ? nothingFoundIn(trace) : '',
    speedups: speedups(trace),
  };
}

/** distributed counts what P2P shuffles send in a metric of their own, and in no log of transfers. */
function shuffledBytes({ totals }: Trace): number {
  return totals.metrics
    .filter(({ context, unit }) => context === 'p2p' && unit === 'bytes')
    .filter(({ activity }) => activity === 'background-comms, process')
    .reduce((sum, { value }) => sum + value, 0);
}

/** Runs that erred and that another run of the same task followed. */
function retriedRuns({ tasks }: Trace): number {
  const again = new Set<number>();
  let retried = 0;
  for (let row = tasks.length - 1; row >= 0; row--) {
    const id = tasks.id[row]!;
    if (tasks.state[row] === ERRED && again.has(id)) retried++;
    again.add(id);
  }
  return retried;
}

function workersOf(trace: Trace, { start, stop }: CriticalPath): WorkerSummary[] {
  const { workers, tasks, totals, strings } = trace;
  const threads = threadsOf(trace);
  const counts = new Float64Array(workers.length);
  for (const worker of tasks.worker) if (worker >= 0) counts[worker]! += 1;
  return Array.from(counts, (count, row) => {
    const { started, stopped } = workers;
    // Either is NaN where the trace does not say.
    const from = started[row]! > start ? started[row]! : start;
    const to = stopped[row]! < stop ? stopped[row]! : stop;
    const computed = totals.busy[row] ?? 0;
    return {
      name: workers.name[row]! < 0 ? '' : strings.get(workers.name[row]!),
      tasks: count,
      computed,
      busy: to > from ? Math.min(1, computed / (threads[row]! * (to - from))) : 0,
    };
  })
    .filter(({ tasks: count }) => count > 0)
    .sort((a, b) => b.busy - a.busy);
}

/** By worker: how many threads it has, at least those that ran tasks. Not every trace says it. */
function threadsOf({ workers, tasks: { worker, thread, length } }: Trace): Float64Array {
  const used = Array.from({ length: workers.length }, () => new Set<number>());
  for (let row = 0; row < length; row++) {
    if (worker[row]! >= 0 && thread[row]! >= 0) used[worker[row]!]!.add(thread[row]!);
  }
  return workers.threads.map((count, row) => Math.max(1, count || 0, used[row]!.size));
}

function longPoleOf(path: CriticalPath): LongPole {
  const parts = path
    .summary()
    .head(MAX_PARTS)
    .rows.map(({ Kind, Prefix, Behind, 'Duration (s)': seconds }) => ({
      kind: String(Kind),
      prefix: Prefix === null ? null : String(Prefix),
      behind: Behind === null ? null : String(Behind),
      seconds: Number(seconds),
    }));
  return { floor: path.floor, byKind: path.byKind, byPrefix: path.byPrefix, parts };
}
