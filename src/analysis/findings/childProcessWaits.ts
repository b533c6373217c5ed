// Finds out whether tasks wait for child processes that compute, which more tasks at a time do not make faster.
import { percentText, secondsText } from '../../base/words.js';
import { childSeconds } from '../childProcesses.js';
import { coreUseOf, MIN_OTHERS } from '../coreUse.js';
import type { Facts, Finding } from './finding.js';

/** Share of the time of waiting tasks in which all cores were busy, from which they may wait for work on these cores. */
const FULL = 0.5;
/** CPU seconds of child processes per second of waiting, from which tasks wait for them: others use the cores, too. */
const MIN_CHILDREN = 0.1;

/** The cores of the machine while tasks waited. */
export interface BusyCores {
  readonly text: string;
  /** CPU seconds of child processes; NaN if they are not recorded. */
  readonly children: number;
}

/** Tasks that wait. */
export interface WaitingTasks {
  readonly code: Finding['code'];
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
 * Returns the finding that tasks wait for child processes that compute; undefined if they wait for something else. The cost
 * is at most the time that these processes need on all cores.
 */
export function childProcesses(
  facts: Facts,
  busy: BusyCores | undefined,
  { code, prefix, cpu, waited, text, cost, rows }: WaitingTasks,
): Finding | undefined {
  if (busy === undefined || !(busy.children >= MIN_CHILDREN * waited)) return undefined;
  const { children } = busy;
  const { cores } = coreUseOf(facts.trace);
  return {
    code,
    title: `Tasks of '${prefix}' wait for child processes, while all ${cores} cores are busy`,
    seconds: Math.min(cost, children / cores),
    confidence: 'medium',
    evidence: {
      text: `Child processes used ${secondsText(children)} of CPU time, and ${text}.${busy.text}`,
      numbers: {
        awaitedSeconds: waited,
        cpuSeconds: cpu,
        childSeconds: children,
        workers: facts.workers,
      },
      tasks: facts.keys(rows),
      question: 'critical-path',
    },
    advice: `More tasks at a time are not faster: make the child processes of '${prefix}' faster, or use more cores.`,
  };
}
