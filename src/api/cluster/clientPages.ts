// Performance reports that open at the task stream or at the profile, as files.
import { rangeOf } from '../../base/lookUps.js';
import { hostFacts, writeReport } from '../../diagnostics/performanceReport.js';
import type { Trace } from '../../trace/trace.js';
import { packageVersion } from '../packageVersion.js';

export interface PageView {
  readonly page: 'stream' | 'profile';
  /** Heading of the report. */
  readonly title: string;
  /** Seconds since the epoch. */
  readonly range: { readonly start?: number; readonly stop?: number };
  /** Other choices of the page. */
  readonly choices?: Readonly<Record<string, string | undefined>>;
}

/**
 * Writes a report that opens at a page.
 *
 * @returns the absolute path of the file
 * @throws LongpoleError ERR_LONGPOLE_PAGE_FILE if the file cannot be written
 */
export function writePageAt(trace: Trace, filename: string, view: PageView): string {
  const { page, title, range, choices = {} } = view;
  const { start, stop } = range;
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(choices)) if (value !== undefined) query.set(name, value);
  // The page counts from the start of the first task, which is NaN for a run that was lost with its worker. An omitted
  // end of the range stays open, so that it includes rows beyond the tasks.
  const first = rangeOf(trace.tasks.started).start;
  if (Number.isFinite(first)) {
    if (start !== undefined) query.set('from', String(start - first));
    if (stop !== undefined) query.set('to', String(stop - first));
  }
  const text = query.toString();
  const address = text === '' ? page : `${page}?${text}`;
  return writeReport(trace, filename, { title, facts: hostFacts(packageVersion()), address });
}
