// `performanceReport`: records the cluster of a client while a block runs, and writes the trace as one HTML file.

import { CALLABLE, CLIENT, checkArgument, checkOptions, type OptionKinds, TEXT } from '../base/arguments.js';
import { invalidArgument } from '../base/errors.js';
import { thenEnding } from '../base/thenEnding.js';
import { callingLine } from '../diagnostics/callingLine.js';
import type { LiveTrace } from '../trace/live/liveTrace.js';
import type { Client } from './cluster/client.js';
import { defaultClient } from './cluster/defaultClient.js';
import { packageVersion } from './packageVersion.js';

export interface PerformanceReportOptions {
  /** Path of the page. Default `longpole-report.html` in the working directory. */
  readonly filename?: string;
  /** Client of the cluster. Default: the most recently connected client. */
  readonly client?: Client;
  /** Heading of the page. Default `Performance report`. */
  readonly title?: string;
}

const OPTIONS: OptionKinds<PerformanceReportOptions> = {
  filename: TEXT,
  client: CLIENT,
  title: TEXT,
};

/** Rows of tasks, and of intervals, in a report: about 300 MB while it is recorded. Totals also count evicted rows. */
const MAX_TASKS = 5_000_000;

/** A report that is recorded from its creation until `close()`; see `performanceReport`. */
export class PerformanceReport {
  readonly filename: string;
  readonly #live: LiveTrace;
  readonly #title: string;
  readonly #code: string;
  readonly #client: Client;
  readonly #stop: () => void;
  #path: string | undefined;

  /** @internal */
  constructor(
    { filename = 'longpole-report.html', client = defaultClient(), title }: PerformanceReportOptions,
    code: string,
  ) {
    if (client === undefined) {
      throw invalidArgument('performanceReport() needs a client. Call connect() before, or pass { client }.');
    }
    this.filename = filename;
    this.#title = title ?? 'Performance report';
    this.#code = code;
    this.#live = client.tools.newTrace({ window: { tasks: MAX_TASKS, intervals: MAX_TASKS } });
    this.#stop = client.observe(this.#live);
    this.#client = client;
  }

  /**
   * Ends the recording and writes the page. Further calls only return the path.
   *
   * @returns (resolves) the absolute path of the page
   * @throws (rejects) LongpoleError ERR_LONGPOLE_PAGE_FILE if the page cannot be written
   */
  async close(): Promise<string> {
    if (this.#path !== undefined) return this.#path;
    await this.#client.cluster.flushProfiles();
    this.#stop();
    const { hostFacts, writeReport } = await import('../diagnostics/performanceReport.js');
    const facts = {
      ...hostFacts(packageVersion()),
      ...(this.#code === '' ? {} : { 'Called from': this.#code }),
    };
    this.#path = writeReport(this.#live.snapshot(), this.filename, { title: this.#title, facts });
    return this.#path;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/**
 * Records a cluster while a block or a function runs, and writes a performance report: one HTML file with all pages of
 * the dashboard. The file needs no server and no network. `openTrace` reads it again. The report is also written if the
 * block throws.
 *
 *     await using report = performanceReport({ filename: 'report.html' });
 *
 *     await performanceReport({ filename: 'report.html' }, async () => { … });
 *
 * A string is short for `{ filename }`. The options may be omitted before a function.
 *
 * @returns a PerformanceReport for `await using`; with a function, a promise of its result
 * @throws LongpoleError ERR_LONGPOLE_INVALID_ARGUMENT without a client; (rejects) ERR_LONGPOLE_PAGE_FILE if the page
 *   cannot be written, unless the function fails, whose error is more important
 * @source Dask's `distributed.performance_report`
 */
export function performanceReport(options?: PerformanceReportOptions | string): PerformanceReport;
export function performanceReport<T>(fn: () => T): Promise<Awaited<T>>;
export function performanceReport<T>(
  options: PerformanceReportOptions | string,
  fn: () => T,
): Promise<Awaited<T>>;
export function performanceReport(
  given: PerformanceReportOptions | string | (() => unknown) = {},
  more?: () => unknown,
): unknown {
  const fn = typeof given === 'function' ? given : more;
  const options = typeof given === 'string' ? { filename: given } : typeof given === 'function' ? {} : given;
  if (fn !== undefined) checkArgument('performanceReport(options, fn): fn', fn, CALLABLE);
  checkOptions('performanceReport()', options, OPTIONS);
  const report = new PerformanceReport(options, callingLine(performanceReport));
  return fn === undefined ? report : thenEnding(fn, () => report.close());
}
