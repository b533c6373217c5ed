// The performance report: the dashboard with one trace in it, as one HTML file that opens from disk and that `openTrace`
// reads again.
import { availableParallelism, hostname } from 'node:os';
import { deflateSync } from 'node:zlib';
import { ANY, checkOptions, type OptionKinds, TEXT } from '../base/arguments.js';
import { encodeReport, type ReportInfo } from '../trace/recording/reportBytes.js';
import type { Trace } from '../trace/trace.js';
import { fillTemplate, writePage } from './htmlPage.js';

export interface ReportOptions {
  /** Heading of the page. Default `Performance report`. */
  readonly title?: string;
  /** Facts for its first page beside those of the trace, e.g. `Program` → `src/main.ts`. */
  readonly facts?: Readonly<Record<string, string>>;
  /** Where the page begins, as its address has it, e.g. `profile?prefix=inc`. Default: at the summary. */
  readonly address?: string;
}

const OPTIONS: OptionKinds<ReportOptions> = { title: TEXT, facts: ANY, address: ANY };

/** What this process knows of where it runs: for reports of traces that were recorded here. */
export function hostFacts(version: string): Readonly<Record<string, string>> {
  return {
    Longpole: version,
    Node: process.version,
    Platform: `${process.platform} ${process.arch}`,
    Host: `${hostname()}, ${availableParallelism()} cores`,
  };
}

/**
 * The report as pieces of one HTML file. Its size: the program, some 200 kB, and about 16 bytes for each task beyond the
 * random part of its key.
 *
 * @throws LongpoleError ERR_LONGPOLE_PAGE_FILE if the template is not part of the installation
 */
export function renderReport(trace: Trace, options: ReportOptions = {}): string[] {
  checkOptions('writeReport()', options, OPTIONS);
  const { title = 'Performance report', facts = {}, address = '' } = options;
  const info: ReportInfo = { title, facts, address };
  // Higher levels take twice as long and save some hundredths: what repeats is spelled out already.
  const packed = deflateSync(encodeReport(trace, info), { level: 4, memLevel: 9 });
  return fillTemplate('dashboard', info.title, packed.toString('base64'));
}

/**
 * Writes the report of a trace, live or opened, to `filename` and returns its absolute path. An existing file is replaced.
 * Totals are exact, also where a live trace has let rows go.
 *
 * @throws LongpoleError ERR_LONGPOLE_PAGE_FILE if the file cannot be written or the template is missing
 */
export function writeReport(trace: Trace, filename: string, options: ReportOptions = {}): string {
  return writePage(renderReport(trace, options), filename);
}
