// Finds out whether tasks wait for child processes or other threads that compute, which more tasks at a time do not make faster.

import { oncePer } from '../../base/lookUps.js';
import { sortedOrder } from '../../base/sortedOrder.js';
import { percentText, secondsText } from '../../base/words.js';
import { SCHEDULER_CORE_TIME } from '../../protocol/traceNames.js';
import type { Trace } from '../../trace/trace.js';
import { childSeconds, coreUseOf, MIN_OTHERS } from '../coreUse.js';
import { firstStart } from '../workerLives.js';
import type { Facts, FindingCode, Found } from './finding.js';
import { metricSeconds } from './metricSeconds.js';
import { hasCpuMetrics } from './noncpu.js';

/** Share of the time of waiting tasks in which all cores were busy, from which they may wait for work on these cores. */
const FULL = 0.5;
/** CPU seconds of child processes per second of waiting, from which tasks wait for them: others use the cores, too. */
const MIN_CHILDREN = 0.1;
/** The same for other threads of the program, which also compile functions, collect garbage and sample. */
const MIN_THREADS = 0.15;
/** Their least CPU seconds. Fewer are enough if they are a large share of the seconds of waiting, as in a short run. */
const MIN_THREAD_SECONDS = 1;
const MIN_SHORT_SECONDS = 0.3;
const MIN_SHORT_SHARE = 0.5;

/** The cores of the machine while tasks waited. */
export interface BusyCores {
  readonly text: string;
  /** CPU seconds of child processes; NaN if they are not recorded. */
  readonly children: number;
}

export interface WaitingTasks {
  readonly code: FindingCode;
  readonly prefix: string;
  /** Seconds on a core. */
  readonly cpu: number;
  /** Seconds of waiting. */
  readonly waited: number;
  /** The end of a sentence that says how long they waited. */
  readonly text: string;
  /** Seconds of the run. */
  readonly cost: number;
  readonly rows: Int32Array;
}

/** Returns undefined if the machine had free cores while these tasks waited. */
export function busyCores({ trace }: Facts, rows: Int32Array): BusyCores | undefined {
  const { fullSeconds, cores, others } = coreUseOf(trace);
  let [full, all] = [0, 0];
  for (const row of rows) {
    full += fullSeconds(row);
    all += trace.tasks.duration[row]!;
  }
  if (!(full >= FULL * all)) return undefined;
  const children = childSeconds(trace);
  const beside = Number.isNaN(children) ? ' or with child processes of tasks' : '';
  const whose = others >= MIN_OTHERS ? `, ${others.toFixed(1)} of them with other programs${beside}` : '';
  return {
    text: ` For ${percentText(full / all)} of this time, all ${cores} cores were busy${whose}.`,
    children,
  };
}

/**
 * Returns the finding that tasks wait for child processes, or for other threads of the program, that compute; undefined if they
 * wait for something else. The cost is at most the time that these need on all cores.
 */
export function computingElsewhere(
  facts: Facts,
  busy: BusyCores | undefined,
  { code, prefix, cpu, waited, text, cost, rows }: WaitingTasks,
): Found | undefined {
  const used = busy && usedBy(facts, busy, waited);
  if (used === undefined) return undefined;
  const { cores } = coreUseOf(facts.trace);
  return {
    code,
    title: `Tasks of '${prefix}' wait for ${used.name}, while all ${cores} cores are busy`,
    seconds: Math.min(cost, used.seconds / cores),
    confidence: 'medium',
    text: `${used.subject} used ${secondsText(used.seconds)} of CPU time, and ${text}.${busy?.text}`,
    numbers: {
      awaitedSeconds: waited,
      cpuSeconds: cpu,
      [used.number]: used.seconds,
      workers: facts.workers,
    },
    tasks: facts.keys(rows),
    question: 'critical-path',
    advice: `More tasks at a time are not faster: make ${used.what} of '${prefix}' faster, or use more cores.`,
  };
}

/** Threads of a process on which Node runs these operations, if UV_THREADPOOL_SIZE does not change it. */
const POOL_THREADS = 4;
/** Cores that other threads of the program used on average, per thread of the pool, if all of them computed. Other threads compile and collect garbage. */
const MIN_FULL = 0.8;
const MAX_FULL = 1.1;

/**
 * Returns the finding that tasks wait for the threads on which Node runs crypto, zlib, files and DNS, if all of them computed during the
 * run while the machine had free cores. Worker processes have such threads each, and what these use is not known.
 */
export function fullThreadPool(
  facts: Facts,
  { code, prefix, cpu, waited, text, cost, rows }: WaitingTasks,
): Found | undefined {
  const used = otherThreadSeconds(facts.trace) / facts.active;
  const isFull = used >= MIN_FULL * POOL_THREADS && used <= MAX_FULL * POOL_THREADS;
  if (!isFull || new Set(facts.trace.workers.pid).size > 1) return undefined;
  return {
    code,
    title: `Tasks of '${prefix}' wait for the ${POOL_THREADS} threads on which Node runs crypto, zlib, files and DNS, which all compute`,
    seconds: cost,
    confidence: 'medium',
    text: `Threads that run no tasks kept ${used.toFixed(1)} cores busy on average, and ${text}. The machine had free cores.`,
    numbers: {
      awaitedSeconds: waited,
      cpuSeconds: cpu,
      threadSeconds: used * facts.active,
      workers: facts.workers,
    },
    tasks: facts.keys(rows),
    question: 'critical-path',
    advice:
      'Start the program with more such threads: the environment variable UV_THREADPOOL_SIZE, at most the number of cores. Or use workers that are processes: each has threads of its own. More tasks at a time are not faster.',
  };
}

/** Whether threads that run no tasks computed while tasks waited, e.g. those of Node for crypto. */
export function threadsComputed({ trace }: Facts, waited: number): boolean {
  const short = Math.max(MIN_SHORT_SECONDS, MIN_SHORT_SHARE * waited);
  return otherThreadSeconds(trace) >= Math.max(Math.min(MIN_THREAD_SECONDS, short), MIN_THREADS * waited);
}

/** Returns who computed while tasks waited. */
function usedBy(facts: Facts, { children }: BusyCores, waited: number) {
  const threads = otherThreadSeconds(facts.trace);
  if (children >= MIN_CHILDREN * waited && !(threads > children))
    return {
      seconds: children,
      name: 'child processes',
      subject: 'Child processes',
      what: 'the child processes',
      number: 'childSeconds',
    };
  if (!threadsComputed(facts, waited)) return undefined;
  return {
    seconds: threads,
    name: 'other threads of the program, which compute',
    subject: 'Threads that run no tasks, e.g. those of Node for crypto, zlib, files and WebAssembly,',
    what: 'these operations',
    number: 'threadSeconds',
  };
}

/** CPU seconds that the start of a worker and of its profiler take, on threads that run no tasks then. */
const WORKER_START_SECONDS = 0.1;

/** Activities of tasks on their own thread. */
const OWN = ['thread-cpu', 'gc', 'executor', 'import', 'serialize', 'deserialize'] as const;

/**
 * Returns the CPU seconds after the start of the first task of threads that run neither tasks nor the scheduler: those on which
 * Node computes for crypto, zlib and files, and those on which V8 compiles and collects garbage. NaN if they are not
 * recorded. Workers that are processes of local schedulers have no figure of the thread that runs tasks, so their threads
 * are left out.
 */
export const otherThreadSeconds = oncePer((trace: Trace): number => {
  const { worker, figures } = trace.resources;
  const cpu = figures.get('cpu');
  const scheduler = figures.get(SCHEDULER_CORE_TIME);
  if (cpu === undefined || scheduler === undefined) return Number.NaN;
  const from = firstStart(trace);
  const last = new Map<number, number>();
  let [program, workers] = [0, 0];
  let [first, latest] = [Number.NaN, Number.NaN];
  for (const row of sortedOrder(trace.resources.time, false)) {
    const time = trace.resources.time[row]!;
    const isHost = worker[row] === -1;
    const before = last.get(worker[row]!);
    last.set(worker[row]!, time);
    if (before === undefined || before < from) continue;
    if (isHost && Number.isNaN(first)) first = scheduler[row]!;
    else if (isHost) {
      latest = scheduler[row]!;
      program += (cpu[row]! / 100) * (time - before);
    } else workers += ((cpu[row]! || 0) / 100) * (time - before);
  }
  const begun = trace.workers.started.filter((time) => time > from).length * WORKER_START_SECONDS;
  return Math.max(0, program - (latest - first) - Math.min(workers, measuredSeconds(trace)) - begun);
});

/** Returns the seconds that tasks used on their threads, by metrics; Infinity without metrics. */
function measuredSeconds(trace: Trace): number {
  if (!hasCpuMetrics(trace)) return Number.POSITIVE_INFINITY;
  return OWN.reduce((sum, activity) => sum + metricSeconds(trace, activity).total, 0);
}
