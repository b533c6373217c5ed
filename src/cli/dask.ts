// `longpole dask`: observes a running Dask cluster: records a trace, writes a report, or serves the dashboard.
import { type Command, InvalidArgumentError } from 'commander';
import { cutOffTexts } from '../api/analysis.js';
import { checkDashboard } from '../api/dask.js';
import {
  type DaskObservation,
  type DaskSecurity,
  observeDask,
  openTrace,
  type Trace,
  TraceWriter,
} from '../api/trace.js';
import { MAX_TIMER_SECONDS } from '../base/arguments.js';
import { LongpoleError } from '../base/errors.js';
import { countText } from '../base/words.js';
import { openBrowser, type PageOptions, withPageOptions } from './openBrowser.js';
import { prepareOutputFile, refuseStandardOutput } from './outputFile.js';
import { summarise } from './run/summary.js';
import { summaryText } from './run/summaryText.js';
import {
  FAILED,
  failingLater,
  failingWith,
  inputEnds,
  interrupted,
  note,
  print,
  printText,
  runCommand,
  WRONG_USAGE,
} from './terminal.js';

/** Exit code of a process that Ctrl-C ended, as in a shell. */
const INTERRUPTED = 130;
/** Milliseconds between two checks whether the trace can still be written. */
const WRITE_CHECK = 1000;

interface Options extends DaskSecurity {
  readonly python?: string | undefined;
  readonly timeout: number;
  readonly untilInput?: boolean;
}

interface WatchOptions extends Options {
  readonly output: string;
  readonly seconds?: number;
  readonly overwrite?: boolean;
}

type AttachOptions = Options & PageOptions;

export function addDask(program: Command): void {
  const dask = program
    .command('dask')
    .description('observe a Dask cluster, on which nothing has to be installed')
    .helpCommand(false);
  const until = (command: Command): Command =>
    command.option(
      '-s, --seconds <number>',
      'end after this many seconds (default: at Ctrl-C or the end of the cluster)',
      seconds,
    );
  until(subcommand(dask, 'record', 'record the cluster in a trace directory'))
    .option('-o, --output <directory>', 'trace directory', 'dask.trace')
    .option('--overwrite', 'replace an existing trace in the directory')
    .action((address: string, options: WatchOptions) => runCommand(() => record(address, options)));
  until(subcommand(dask, 'report', 'record the cluster and write a performance report as one HTML file'))
    .option('-o, --output <file>', 'path of the report', 'longpole-dask-report.html')
    .action((address: string, options: WatchOptions) => runCommand(() => report(address, options)));
  withPageOptions(subcommand(dask, 'attach', 'serve the dashboard of the cluster')).action(
    (address: string, options: AttachOptions) => runCommand(() => attach(address, options)),
  );
}

function subcommand(dask: Command, name: string, description: string): Command {
  return dask
    .command(name)
    .description(description)
    .argument('<address>', 'address of the scheduler, e.g. tcp://127.0.0.1:8786')
    .option(
      '--python <file>',
      'a Python with distributed (default: LONGPOLE_PYTHON, .venv/bin/python or python3)',
    )
    .option(
      '--ca <file>',
      'certificate of the authority that signed the certificates of the cluster, for tls://',
    )
    .option('--cert <file>', 'certificate of this client')
    .option('--key <file>', 'private key of the certificate')
    .option('--timeout <seconds>', "time to wait for the scheduler's answer", seconds, 10)
    .option('--until-input', 'also end, as at Ctrl-C, when the standard input receives a line or ends');
}

function seconds(text: string): number {
  const value = Number(text);
  if (value > 0 && Number.isFinite(value)) return value;
  throw new InvalidArgumentError(`'${text}' is not a number of seconds above 0.`);
}

async function record(
  address: string,
  { output, seconds: limit, overwrite = false, ...options }: WatchOptions,
): Promise<void> {
  refuseStandardOutput('--output', output, 'A trace is a folder.');
  const ended = requestedEnd(options);
  let writer: TraceWriter | undefined;
  const dask = await attached(address, ended, options, () => {
    writer = TraceWriter.create(output, { onSignals: false, overwrite });
    return [writer];
  });
  await watch(dask, Promise.race([ended, stopsWriting(() => writer)]), limit);
  failingWith(FAILED, () => writer?.close());
  summary(failingWith(FAILED, () => openTrace(output)));
  await printText(`${output}\n`);
}

async function report(address: string, { output, seconds: limit, ...options }: WatchOptions): Promise<void> {
  refuseStandardOutput('--output', output, 'The path of the report is printed there.');
  const ended = requestedEnd(options);
  prepareOutputFile(output);
  const dask = await attached(address, ended, options);
  await watch(dask, ended, limit);
  const path = failingWith(FAILED, () => dask.report(output));
  summary(dask.trace);
  await printText(`${path}\n`);
}

async function attach(
  address: string,
  { open, python, timeout, ca, cert, key, untilInput = false, ...where }: AttachOptions,
): Promise<void> {
  // Wrong options are refused before a client and plugins are added to the cluster.
  await failingLater(WRONG_USAGE, checkDashboard(where));
  const ended = requestedEnd({ untilInput });
  const dask = await attached(address, ended, { python, timeout, ca, cert, key });
  let isOver = false;
  const gone = reasonOf(dask).then((reason) => {
    if (reason === 'asked') return;
    note(isOver ? `longpole: ${reason}` : `longpole: ${reason}. The dashboard is available until Ctrl-C.`);
  });
  try {
    const link = await failingLater(WRONG_USAGE, dask.dashboard(where));
    await print(`${link}\n`);
    if (open && process.stdout.isTTY) openBrowser(link);
    await ended;
  } finally {
    isOver = true;
    await dask.close().catch(() => {});
    await gone;
  }
}

/** Resolves when the trace cannot be written any more, because the command would record nothing. */
function stopsWriting(writer: () => TraceWriter | undefined): Promise<void> {
  return new Promise((done) => {
    const timer = setInterval(() => {
      if (writer()?.failure === undefined) return;
      clearInterval(timer);
      done();
    }, WRITE_CHECK);
    timer.unref();
  });
}

/** Resolves when the user, or the program that started this process, ends the observation. */
function requestedEnd({ untilInput = false }: Pick<Options, 'untilInput'>): Promise<void> {
  return untilInput ? Promise.race([interrupted(), inputEnds()]) : interrupted();
}

async function attached(
  address: string,
  ended: Promise<void>,
  options: Options,
  observers: () => readonly TraceWriter[] = () => [],
): Promise<DaskObservation> {
  const { python, timeout, ca, cert, key } = options;
  const watching = observeDask(address, { python, timeout, security: { ca, cert, key }, observers });
  const dask = await Promise.race([failingLater(WRONG_USAGE, watching), ended]);
  // The bridge ends with this process.
  if (dask === undefined) process.exit(INTERRUPTED);
  note(`longpole: observing ${address}, ${countText(dask.workers, 'worker')}; press Ctrl-C to end`);
  return dask;
}

/**
 * Waits for the requested end, the time limit, or the end of the cluster, and ends the observation. If the cluster or the bridge
 * ends first, the command fails, because the recording is incomplete.
 */
async function watch(dask: DaskObservation, ended: Promise<void>, limit?: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const time = new Promise<void>((done) => {
    if (limit !== undefined) timer = setTimeout(done, Math.min(limit, MAX_TIMER_SECONDS) * 1000);
  });
  // Rows from before a failure of the bridge are kept.
  const gone = reasonOf(dask);
  const isEarly = await Promise.race([
    ended.then(() => false),
    time.then(() => false),
    gone.then(() => true),
  ]);
  clearTimeout(timer);
  await dask.close().catch(() => {});
  const reason = await gone;
  if (reason === 'asked') return;
  note(`longpole: ${isEarly ? 'the observation ended early: ' : ''}${reason}`);
  process.exitCode = FAILED;
}

function summary(trace: Trace): void {
  if (trace.tasks.length === 0 && cutOffTexts(trace).length === 0)
    note(
      process.exitCode === FAILED
        ? 'No tasks were recorded.'
        : 'No tasks were recorded: the cluster ran none during the observation.',
    );
  else process.stderr.write(summaryText(failingWith(FAILED, () => summarise(trace))));
}

/** Returns the reason of the end, also if that is an error. */
function reasonOf(dask: DaskObservation): Promise<string> {
  return dask.closed.catch(messageOf);
}

function messageOf(error: unknown): string {
  return error instanceof LongpoleError ? `${error.message} (${error.code})` : String(error);
}
