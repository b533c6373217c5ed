// Describes a run without findings: its largest parts, and the prefix whose speed matters most.
import { percentText, secondsText } from '../../base/words.js';
import type { Trace } from '../../trace/trace.js';
import { type CriticalPath, criticalPath } from '../criticalPath.js';
import { isWorthNaming, type Speedup, speedups } from '../speedups.js';

/** Share of the makespan from which the start of workers is mentioned. */
const MIN_START = 0.05;

/** Returns the description of a trace; empty if no task ran. */
export function nothingFoundIn(trace: Trace): string {
  return nothingFound(criticalPath(trace), speedups(trace));
}

/** Returns the same description from a critical path and speedups that were computed before. */
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
    'No finding costs 5 % of the run or more.',
    starting > 0 && starting >= MIN_START * makespan
      ? ` The start of the workers, which import the modules of their tasks, takes ${share(starting)}.`
      : '',
    most === undefined
      ? ''
      : ` '${most.prefix}' accounts for ${share(most.seconds)} of the critical path, mostly ${most.parts[0]?.kind ?? 'unknown'}.`,
    best === undefined || !isWorthNaming(best)
      ? ''
      : ` If '${best.prefix}' were twice as fast, the run would take ${secondsText(best.gained)} less.`,
  ].join('');
}
