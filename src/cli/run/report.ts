// What `longpole run` prints and writes after the program has ended.
import { basename } from 'node:path';
import { writePieces } from '../../api/folders.js';
import { damageText, describeTrace, openTrace, type Trace, type TraceAbout } from '../../api/traceFiles.js';
import { secondsText } from '../../base/words.js';
import type { ScriptEnd } from '../runScript.js';
import { FAILED, failingWith, note, print } from '../terminal.js';
import { commonJsAdvice } from './commonJs.js';
import { type Summary, summarise } from './summary.js';
import { summaryText } from './summaryText.js';

/** Files that a person asked for. */
export interface ReportOptions {
  readonly trace?: string;
  readonly report?: string;
  readonly json?: string;
  readonly memoryLimit?: string;
  readonly node?: string;
}

/** A program that has ended. */
export interface Ended extends ScriptEnd {
  readonly script: string;
  readonly args: readonly string[];
  /** Seconds from the start of its process to its end. */
  readonly seconds: number;
}

/**
 * Prints the summary of a program that has ended, and writes what the options request.
 *
 * @param directory its trace
 */
export async function reportRun(ended: Ended, directory: string, options: ReportOptions): Promise<void> {
  const trace = failingWith(FAILED, () => openTrace(directory));
  const summary = failingWith(FAILED, () => summarise(trace));
  const { script, code, signal, reason, seconds } = ended;
  // Erases the line of the progress, which is still there if the program was killed.
  if (process.stderr.isTTY) process.stderr.write('\r\u001b[K');
  const how = signal === null ? `exit code ${code}` : `ended by ${signal}${reason}`;
  note(`longpole: ${basename(script)} took ${secondsText(seconds)}, ${how}`);
  // The recording of a killed program breaks off, which the summary says.
  if (trace.damage !== undefined && signal === null)
    note(`longpole: warning: the recording is incomplete: ${damageText(trace.damage)}`);
  for (const text of withoutEffect(trace, options)) note(`longpole: warning: ${text}`);
  if (!isEmpty(summary)) process.stderr.write(summaryText(summary));
  else note((code === 1 ? commonJsAdvice(script) : undefined) ?? nothingText(ended));
  if (options.trace !== undefined) note(`${'trace'.padEnd(11)}${options.trace}`);
  const title = [basename(script), ...ended.args].join(' ');
  const about = { title, facts: { Program: title, 'Exit code': String(code) } };
  if (options.report !== undefined) await writeRunReport(trace, options.report, about);
  if (options.json !== undefined) await writeJson(options.json, ended, summary, options.trace);
  // If the disk is full, only this is lost.
  if (options.trace !== undefined) failingWith(FAILED, () => describeTrace(directory, about));
}

/** Returns sentences about options for workers that the program did not have. */
function withoutEffect({ workers, strings }: Trace, { memoryLimit, node }: ReportOptions): string[] {
  if (workers.length === 0) return [];
  // Workers of local schedulers have no address.
  const addresses = Array.from(workers.address, (id) => (id < 0 ? '' : strings.get(id)));
  const isOwn = (address: string): boolean => /^(thread|process):/.test(address);
  const texts: string[] = [];
  if (memoryLimit !== undefined && !addresses.some(isOwn))
    texts.push(
      '--memory-limit had no effect: only workers of clusters that Longpole starts have a limit. With --cluster, compute() runs on one.',
    );
  if (node !== undefined && addresses.every((address) => address === '' || isOwn(address)))
    texts.push(
      '--node had no effect: the program used no Dask cluster. With --dask, connect() and compute() use one.',
    );
  return texts;
}

async function writeRunReport(trace: Trace, file: string, about: TraceAbout): Promise<void> {
  const { writeReport } = await import('../../api/diagnostics.js');
  failingWith(FAILED, () => writeReport(trace, file, about));
  note(`${'report'.padEnd(11)}${file}`);
}

function nothingText({ code, signal }: Ended): string {
  if (signal !== null)
    return 'nothing was recorded: it is written every quarter of a second, when the program\nreturns to its event loop.';
  const before = 'nothing was recorded: the program';
  return code === 0
    ? `${before} ran no tasks on clusters or local schedulers of\nLongpole, or it loaded another copy of the package.`
    : `${before} probably ended before it ran tasks on clusters\nor local schedulers of Longpole.`;
}

function isEmpty({ tasks, cutOff, computations }: Summary): boolean {
  return computations + cutOff.length + tasks.memory + tasks.erred + tasks.cancelled + tasks.lost === 0;
}

async function writeJson(file: string, ended: Ended, summary: Summary, trace?: string): Promise<void> {
  const { script, args, code, signal, seconds } = ended;
  const result = { script, args, exitCode: code, signal, seconds, trace: trace ?? null, ...summary };
  if (file === '-') {
    await print(`${JSON.stringify(result)}\n`);
    return;
  }
  failingWith(ended.code === 0 ? FAILED : ended.code, () =>
    writePieces(file, [`${JSON.stringify(result, null, 1)}\n`]),
  );
}
