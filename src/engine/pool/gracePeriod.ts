// How long a task may go on that nobody wants any more. On a full machine its thread may wait for a core all that time, with
// nothing left to do but to say that the task has ended: the period is over when the thread has had it.
import { VITALS_THREAD } from '../../protocol/isolateMessages.js';
import { readProc } from '../../resources/processTree.js';
import { CLOSE_GRACE_MS } from './isolate.js';

/** A thread that wants a core and gets none is given up after this time all the same, in milliseconds. */
const STARVED_MS = 10_000;

/** A thread, as the system sees it. */
export interface ThreadUse {
  /** It computes, or waits for a core. */
  readonly wantsCore: boolean;
  /** CPU time since it began, in milliseconds. */
  readonly cpu: number;
}

/** When the period of a task began. */
export interface GraceStart {
  /** On performance.now(). */
  readonly at: number;
  readonly cpu: number;
}

export class GracePeriod {
  readonly #use: () => ThreadUse | undefined;

  /** @param use undefined where the system does not tell: then the period is time that passes */
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

/** The use of the thread that these vitals are of, which must be one of this process. */
export function threadUse(vitals: Float64Array): ThreadUse | undefined {
  const thread = `self/task/${vitals[VITALS_THREAD]}`;
  const nanoseconds = Number(readProc(`${thread}/schedstat`)?.split(' ')[0] ?? Number.NaN);
  const state = readProc(`${thread}/stat`)
    ?.replace(/^.*\) /s, '')
    .slice(0, 1);
  if (state === undefined || Number.isNaN(nanoseconds)) return undefined;
  return { wantsCore: state === 'R', cpu: nanoseconds / 1e6 };
}
