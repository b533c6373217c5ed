// Describes a run without findings: its largest parts, and the prefix whose speed matters most.
import { percentText, secondsText } from '../../base/words.js';
import type { Trace } from '../../trace/trace.js';
import { type CriticalPath, criticalPath } from '../criticalPath.js';
import type { PathKind } from '../path/pathParts.js';
import { SchedulerCoreWaits } from '../schedulerCoreWaits.js';
import { isWorthNaming, type Speedup, speedups } from '../speedups.js';

/** Share of the makespan from which waits that belong to no prefix are mentioned. */
const MIN_SHARE = 0.05;

/** Returns the description of a trace; empty if no task ran. */
export function nothingFoundIn(trace: Trace): string {
  const path = criticalPath(trace);
  return nothingFound(path, speedups(trace), programCoreWait(trace, path));
}

/**
 * Returns the seconds of the path in which the program prepared or scheduled tasks, or should have, and its thread waited for a
 * core; 0 if unknown.
 */
export function programCoreWait(trace: Trace, { parts }: Pick<CriticalPath, 'parts'>): number {
  const waits = new SchedulerCoreWaits(trace);
  return parts
    .filter(({ kind }) => kind === 'waiting for the scheduler' || kind === 'client time')
    .reduce((sum, { start, stop }) => sum + waits.take(start, stop), 0);
}

/** Returns the same description from a critical path, speedups and the result of `programCoreWait`, which were computed before. */
export function nothingFound(
  { makespan, byKind, byPrefix }: Pick<CriticalPath, 'makespan' | 'byKind' | 'byPrefix'>,
  faster: readonly Speedup[],
  coreWait: number,
): string {
  if (Number.isNaN(makespan)) return '';
  const share = (seconds: number) => `${percentText(seconds / makespan)} (${secondsText(seconds)})`;
  const isLarge = (seconds: number) => seconds > 0 && seconds >= MIN_SHARE * makespan;
  const mention = (kind: PathKind, whose: string): string => {
    const seconds = byKind.find((part) => part.kind === kind)?.seconds ?? 0;
    return isLarge(seconds) ? ` ${whose} takes ${share(seconds)}.` : '';
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
    isLarge(coreWait)
      ? ` The thread of the program, which schedules the tasks, waited for a core for ${share(coreWait)}.`
      : '',
    best === undefined || !isWorthNaming(best)
      ? ''
      : ` If '${best.prefix}' were twice as fast, the run would take ${secondsText(best.gained)} less.`,
  ].join('');
}
