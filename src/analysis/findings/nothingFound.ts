// Describes a run without findings: its largest parts, and the prefix whose speed matters most.
import { percentText, secondsText } from '../../base/words.js';
import type { Trace } from '../../trace/trace.js';
import { type CriticalPath, criticalPath } from '../criticalPath.js';
import type { PathKind } from '../path/pathParts.js';
import { isWorthNaming, type Speedup, speedups } from '../speedups.js';

/** Share of the makespan from which waits that belong to no prefix are mentioned. */
const MIN_SHARE = 0.05;

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
  const mention = (kind: PathKind, whose: string): string => {
    const seconds = byKind.find((part) => part.kind === kind)?.seconds ?? 0;
    return seconds > 0 && seconds >= MIN_SHARE * makespan ? ` ${whose} takes ${share(seconds)}.` : '';
  };
  const [most] = byPrefix;
  const [best] = faster;
  return [
    'No finding costs 5 % of the run or more.',
    mention('client time', 'The program, which prepares and submits the tasks,'),
    mention('worker start', 'The start of the workers, which import the modules of their tasks,'),
    most === undefined
      ? ''
      : ` '${most.prefix}' accounts for ${share(most.seconds)} of the critical path, mostly ${most.parts[0]?.kind ?? 'unknown'}.`,
    best === undefined || !isWorthNaming(best)
      ? ''
      : ` If '${best.prefix}' were twice as fast, the run would take ${secondsText(best.gained)} less.`,
  ].join('');
}
