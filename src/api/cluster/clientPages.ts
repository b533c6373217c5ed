// Performance reports that open at the task stream or at the profile, as files.
import { hostFacts, writeReport } from '../../diagnostics/performanceReport.js';
import type { Trace } from '../../trace/trace.js';
import { packageVersion } from '../packageVersion.js';

/** Seconds since the epoch. */
interface Range {
  readonly start?: number;
  readonly stop?: number;
}

/**
 * Returns the address of a page with a range of time, in seconds since the start of the first task, and other choices.
 * An omitted end of the range stays open, so that it includes rows beyond the tasks.
 */
function addressOf(
  page: string,
  { tasks }: Trace,
  { start, stop }: Range,
  choices: [string, string][],
): string {
  const query = new URLSearchParams(choices);
  // The start is NaN for a run that was lost with its worker.
  const began = tasks.started.filter((time) => !Number.isNaN(time));
  const first = began.reduce((least, time) => Math.min(least, time), Number.POSITIVE_INFINITY);
  if (Number.isFinite(first)) {
    if (start !== undefined) query.set('from', String(start - first));
    if (stop !== undefined) query.set('to', String(stop - first));
  }
  const text = query.toString();
  return text === '' ? page : `${page}?${text}`;
}

/**
 * Writes a report that opens at the task stream.
 *
 * @returns the absolute path of the file
 * @throws LongpoleError ERR_LONGPOLE_PAGE_FILE if the file cannot be written
 */
export function writeStreamPage(trace: Trace, filename: string, range: Range): string {
  return writeReport(trace, filename, {
    title: 'Task stream',
    facts: hostFacts(packageVersion()),
    address: addressOf('stream', trace, range, []),
  });
}

export interface ProfileView extends Range {
  readonly key?: string;
  readonly span?: readonly string[];
  /** Name of the selected worker. Default: all workers. */
  readonly worker?: string;
  readonly scheduler: boolean;
}

/** Writes a report that opens at the profile; see writeStreamPage. */
export function writeProfileView(trace: Trace, filename: string, view: ProfileView): string {
  const { key, span, worker, scheduler } = view;
  const choices: [string, string][] = [];
  if (scheduler) choices.push(['of', 'scheduler']);
  if (key !== undefined) choices.push(['prefix', key]);
  if (span !== undefined) choices.push(['span', span.join('/')]);
  if (worker !== undefined) choices.push(['worker', worker]);
  return writeReport(trace, filename, {
    title: `Profile of ${scheduler ? 'the scheduler' : (key ?? 'all tasks')}`,
    facts: hostFacts(packageVersion()),
    address: addressOf('profile', trace, view, choices),
  });
}
