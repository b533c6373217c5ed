// What is said of a run that no rule finds fault with: what it is made of, and what would make it faster all the same.
import { percentText, secondsText } from '../../base/words.js';
import type { Trace } from '../../trace/trace.js';
import { type CriticalPath, criticalPath } from '../criticalPath.js';
import { type Speedup, speedups } from '../speedups.js';

/** Of the makespan, from where the start of workers is worth a sentence. */
const MIN_START = 0.05;

/** The sentences for a trace; empty where no task ran. */
export function nothingFoundIn(trace: Trace): string {
  return nothingFound(criticalPath(trace), speedups(trace));
}

/** The sentences for parts that are known already. */
export function nothingFound(
  { makespan, byKind, byPrefix }: Pick<CriticalPath, 'makespan' | 'byKind' | 'byPrefix'>,
  faster: readonly Speedup[],
): string {
  if (Number.isNaN(makespan)) return '';
  const share = (seconds: number) => `${percentText(seconds / makespan)} (${secondsText(seconds)})`;
  const starting = byKind.find(({ kind }) => kind === 'worker start')?.seconds ?? 0;
  const [most] = byPrefix;
  const [best] = faster;
  return [
    'No finding costs a twentieth of the run.',
    starting > 0 && starting >= MIN_START * makespan
      ? ` Starting workers takes ${share(starting)}, whatever they run.`
      : '',
    most === undefined
      ? ''
      : ` '${most.prefix}' accounts for ${share(most.seconds)} of the critical path, mostly ${most.parts[0]?.kind ?? 'unknown'}.`,
    best === undefined || best.gained <= 0
      ? ''
      : ` '${best.prefix}' twice as fast: −${secondsText(best.gained)}.`,
  ].join('');
}
