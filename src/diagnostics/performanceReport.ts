// Writes performance reports: one HTML file with the dashboard and a trace, which opens from disk. `openTrace` reads it
// again.
import { availableParallelism, hostname } from 'node:os';
import { deflateSync } from 'node:zlib';
import { ANY, checkArgument, checkOptions, type OptionKinds, TEXT, TRACE } from '../base/arguments.js';
import { countText } from '../base/words.js';
import { encodeReport, type ReportInfo } from '../trace/recording/reportBytes.js';
import type { Trace } from '../trace/trace.js';
import { fillTemplate, writePage } from './htmlPage.js';

export interface ReportOptions {
  /** Heading of the page. Default: that of the trace, else `Performance report`. */
  readonly title?: string;
  /** Facts for the first page in addition to those of the trace, e.g. `Program` → `src/main.ts`. Default: none. */
  readonly facts?: Readonly<Record<string, string>>;
  /** Address at which the report opens, e.g. `profile?prefix=inc`. Default: the summary. */
  readonly address?: string;
}

const OPTIONS: OptionKinds<ReportOptions> = { title: TEXT, facts: ANY, address: ANY };

/**
 * Returns the versions of Longpole and Node, the platform, and the name and cores of this machine, as facts for a
 * report.
 *
 * @param version version of Longpole
 */
export function hostFacts(version: string): Readonly<Record<string, string>> {
  return {
    Longpole: version,
    Node: process.version,
    Platform: `${process.platform} ${process.arch}`,
    Host: `${hostname()}, ${countText(availableParallelism(), 'core')}`,
  };
}

/**
 * Returns the report as pieces of one HTML file. The file has about 200 kB for the program, and for each task about 16
 * bytes and the random part of its key.
 *
 * @throws LongpoleError ERR_LONGPOLE_PAGE_FILE if the template is missing from the installation
 */
export function renderReport(trace: Trace, options: ReportOptions = {}): string[] {
  checkOptions('writeReport()', options, OPTIONS);
  const { about } = trace;
  const { title = about?.title || 'Performance report', facts, address = '' } = options;
  const info: ReportInfo = { title, facts: { ...about?.facts, ...facts }, address };
  // Higher levels take twice as long and save only some percent, because the encoding already avoids repetition.
  const packed = deflateSync(encodeReport(trace, info), { level: 4, memLevel: 9 });
  return fillTemplate('dashboard', info.title, packed.toString('base64'));
}

/**
 * Writes a performance report of a live or opened trace. Replaces an existing file. Totals are exact, even if a live
 * trace has evicted rows.
 *
 * @returns the absolute path of the file
 * @throws LongpoleError ERR_LONGPOLE_PAGE_FILE if the file cannot be written or the template is missing
 */
export function writeReport(trace: Trace, filename: string, options: ReportOptions = {}): string {
  checkArgument('writeReport(): trace', trace, TRACE);
  return writePage(renderReport(trace, options), filename);
}
