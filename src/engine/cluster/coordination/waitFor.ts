// Lets a caller wait for a state machine. Every wait has an end: the answer, the time limit, or the end of the caller.
import { MAX_TIMER_SECONDS } from '../../../base/arguments.js';
import { oncePer } from '../../../base/lookUps.js';
import type { Asker, AskerEnd } from '../taskQuestions.js';

/** A task or client that uses shared objects. The key of a client is its name, and it has no prefix. */
export type Caller = Pick<Asker, 'key' | 'ended' | 'stopped'> & Partial<Pick<Asker, 'prefix'>>;

/** Returns a function that makes a collection for each caller. When the caller stops, calls `release` with it. */
export function perCaller<C>(
  make: () => C,
  release: (held: C, caller: Caller) => void,
): (caller: Caller) => C {
  return oncePer((caller: Caller) => {
    const held = make();
    caller.stopped.addEventListener('abort', () => release(held, caller));
    return held;
  });
}

/** Ends a wait before its answer. */
export type Leave = () => void;

/** Begins a wait: either calls `answer` at once and returns undefined, or later, unless `Leave` is called before. */
export type Begin<A> = (answer: (answer: A) => void) => Leave | undefined;

/**
 * @param timeout seconds; undefined: no limit; 0: only an answer at once counts
 * @param late answer at the time limit
 * @throws (rejects) the error of the caller's end
 */
export async function waitFor<A>(
  { ended }: Caller,
  timeout: number | undefined,
  begin: Begin<A>,
  late: A,
): Promise<A> {
  if (ended.aborted) throw endOf(ended).error;
  let end: (() => void) | undefined;
  const outcome = await new Promise<{ readonly answer: A } | 'ended' | 'late'>((resolve) => {
    const leave = begin((answer) => resolve({ answer }));
    if (leave === undefined) return;
    if (timeout === 0) {
      leave();
      resolve('late');
      return;
    }
    const stop = (why: 'ended' | 'late') => (): void => {
      leave();
      resolve(why);
    };
    const ending = stop('ended');
    ended.addEventListener('abort', ending);
    const timer =
      timeout === undefined || timeout === Number.POSITIVE_INFINITY
        ? undefined
        : setTimeout(stop('late'), Math.min(timeout, MAX_TIMER_SECONDS) * 1000);
    end = (): void => {
      ended.removeEventListener('abort', ending);
      clearTimeout(timer);
    };
  });
  end?.();
  if (outcome === 'ended') throw endOf(ended).error;
  return outcome === 'late' ? late : outcome.answer;
}

function endOf(signal: AbortSignal): AskerEnd {
  return signal.reason;
}
