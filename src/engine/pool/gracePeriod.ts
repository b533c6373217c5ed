// The grace period of a cancelled task, in which it may end by itself. It counts CPU time of the thread. On a full
// machine the thread may wait for a core and only need to report the end of the task.
import { VITALS } from '../../protocol/isolateMessages.js';
import { procStat, readProc } from '../../resources/processTree.js';
import { CLOSE_GRACE_MS } from './isolate.js';

/** Time after which a thread without a core is given up, in milliseconds. */
const STARVED_MS = 10_000;

export interface ThreadUse {
  /** Whether the thread computes or waits for a core. */
  readonly wantsCore: boolean;
  /** CPU time since the start of the thread, in milliseconds. */
  readonly cpu: number;
}

/** Start of the grace period of a task. */
export interface GraceStart {
  /** Time from performance.now(). */
  readonly at: number;
  readonly cpu: number;
}

export class GracePeriod {
  readonly #use: () => ThreadUse | undefined;

  /** @param use returns the statistics of the thread; undefined: not available, so elapsed time counts */
  constructor(use: () => ThreadUse | undefined) {
    this.#use = use;
  }

  begin(): GraceStart {
    return { at: performance.now(), cpu: this.#use()?.cpu ?? Number.NaN };
  }

  isOver({ at, cpu }: GraceStart): boolean {
    const elapsed = performance.now() - at;
    if (elapsed <= CLOSE_GRACE_MS) return false;
    const use = this.#use();
    if (use === undefined || Number.isNaN(cpu) || elapsed > STARVED_MS) return true;
    return !use.wantsCore || use.cpu - cpu >= CLOSE_GRACE_MS;
  }
}

/** Returns the statistics of the thread of this process that has these vitals. */
export function threadUse(vitals: Float64Array): ThreadUse | undefined {
  const thread = `self/task/${vitals[VITALS.thread]}`;
  const nanoseconds = Number(readProc(`${thread}/schedstat`)?.split(' ')[0] ?? Number.NaN);
  const state = procStat(thread)?.(3);
  if (state === undefined || Number.isNaN(nanoseconds)) return undefined;
  return { wantsCore: state === 'R', cpu: nanoseconds / 1e6 };
}
