// Finds out whether tasks wait for child processes or other threads that compute, which more tasks at a time do not make faster.
import { percentText, secondsText } from '../../base/words.js';
import { childSeconds } from '../childProcesses.js';
import { coreUseOf, MIN_OTHERS } from '../coreUse.js';
import type { Facts, FindingCode, Found } from './finding.js';
import { otherThreadSeconds } from './otherThreads.js';

/** Share of the time of waiting tasks in which all cores were busy, from which they may wait for work on these cores. */
const FULL = 0.5;
/** CPU seconds of child processes per second of waiting, from which tasks wait for them: others use the cores, too. */
const MIN_CHILDREN = 0.1;
/** The same for other threads of the program, and their least CPU seconds: they also compile functions, collect garbage and sample. */
const MIN_THREADS = 0.15;
const MIN_THREAD_SECONDS = 1;

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

/** Who computed while tasks waited. */
interface Computing {
  readonly seconds: number;
  readonly name: string;
  readonly subject: string;
  readonly what: string;
  readonly number: 'childSeconds' | 'threadSeconds';
}

/** Whether threads that run no tasks computed while tasks waited, e.g. those of Node for crypto. */
export function threadsComputed({ trace }: Facts, waited: number): boolean {
  return otherThreadSeconds(trace) >= Math.max(MIN_THREAD_SECONDS, MIN_THREADS * waited);
}

function usedBy(facts: Facts, { children }: BusyCores, waited: number): Computing | undefined {
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
