// `longpole dask`: a Dask cluster that runs anyway, watched: recorded, reported on, or live in a browser.

import { dirname, resolve } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { makeFolders } from '../api/folders.js';
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
import { openBrowser } from './openBrowser.js';
import { summarise } from './run/summary.js';
import { summaryText } from './run/summaryText.js';
import {
  CommandError,
  FAILED,
  failingLater,
  failingWith,
  interrupted,
  note,
  print,
  runCommand,
  WRONG_USAGE,
} from './terminal.js';

/** What a shell says of a process that Ctrl-C ended. */
const INTERRUPTED = 130;

interface Options extends DaskSecurity {
  readonly python?: string | undefined;
  readonly timeout: number;
}

interface WatchOptions extends Options {
  readonly output: string;
  readonly seconds?: number;
  readonly overwrite?: boolean;
}

interface AttachOptions extends Options {
  readonly port?: number;
  readonly host?: string;
  readonly token?: string;
  readonly open: boolean;
}

export function addDask(program: Command): void {
  const dask = program
    .command('dask')
    .description('watch a Dask cluster; nothing needs to be installed on it')
    .helpCommand(false);
  const until = (command: Command): Command =>
    command.option(
      '-s, --seconds <number>',
      'end after so long (default: with Ctrl-C or the cluster)',
      seconds,
    );
  until(subcommand(dask, 'record', 'record what the cluster does as a trace directory'))
    .option('-o, --output <directory>', 'the trace directory', 'dask.trace')
    .option('--overwrite', 'replace the trace that the directory holds')
    .action((address: string, options: WatchOptions) => runCommand(() => record(address, options)));
  until(subcommand(dask, 'report', 'write what the cluster does as one HTML file'))
    .option('-o, --output <file>', 'the file', 'longpole-dask-report.html')
    .action((address: string, options: WatchOptions) => runCommand(() => report(address, options)));
  subcommand(dask, 'attach', 'look at the cluster in a browser while it works')
    .option('-p, --port <number>', 'listen at this port (default: 8787, or any that is free)', Number)
    .option('--host <address>', 'listen at this address; others than 127.0.0.1 ask for a token')
    .option('--token <secret>', 'ask for this token; 16 letters, digits, - or _ at least')
    .option('--no-open', 'only print the link')
    .addHelpText('after', '\nCtrl-C ends it.')
    .action((address: string, options: AttachOptions) => runCommand(() => attach(address, options)));
}

function subcommand(dask: Command, name: string, description: string): Command {
  return dask
    .command(name)
    .description(description)
    .argument('<address>', 'of the scheduler, e.g. tcp://127.0.0.1:8786')
    .option(
      '--python <file>',
      'a Python that has distributed (default: LONGPOLE_PYTHON, .venv/bin/python or python3)',
    )
    .option('--ca <file>', 'certificate of the authority that signed those of the cluster, for tls://')
    .option('--cert <file>', 'certificate of this client')
    .option('--key <file>', 'its private key')
    .option('--timeout <seconds>', 'for the scheduler to answer', seconds, 10);
}

function seconds(text: string): number {
  const value = Number(text);
  if (value > 0 && Number.isFinite(value)) return value;
  throw new InvalidArgumentError(`'${text}' is no number of seconds above 0.`);
}

async function record(
  address: string,
  { output, seconds: limit, overwrite = false, ...options }: WatchOptions,
): Promise<void> {
  const ctrlC = interrupted();
  let writer: TraceWriter | undefined;
  const dask = await attached(address, ctrlC, options, () => {
    writer = TraceWriter.create(output, { onSignals: false, overwrite });
    return [writer];
  });
  await watch(dask, ctrlC, limit);
  failingWith(FAILED, () => writer?.close());
  summary(failingWith(FAILED, () => openTrace(output)));
  await print(`${output}\n`);
}

async function report(address: string, { output, seconds: limit, ...options }: WatchOptions): Promise<void> {
  const ctrlC = interrupted();
  try {
    makeFolders(dirname(resolve(output)));
  } catch (error) {
    throw new CommandError(`${output} cannot be written: ${String(error)}`, WRONG_USAGE);
  }
  const dask = await attached(address, ctrlC, options);
  await watch(dask, ctrlC, limit);
  const path = failingWith(FAILED, () => dask.report(output));
  summary(dask.trace);
  await print(`${path}\n`);
}

async function attach(
  address: string,
  { open, python, timeout, ca, cert, key, ...where }: AttachOptions,
): Promise<void> {
  const ctrlC = interrupted();
  const dask = await attached(address, ctrlC, { python, timeout, ca, cert, key });
  const gone = dask.closed.then(
    (reason) => {
      if (reason !== 'asked') note(`longpole: ${reason}; the pages stay until Ctrl-C.`);
    },
    (error: unknown) => note(`longpole: ${messageOf(error)}; the pages stay until Ctrl-C.`),
  );
  try {
    const link = await failingLater(WRONG_USAGE, dask.dashboard(where));
    await print(`${link}\n`);
    if (open && process.stdout.isTTY) openBrowser(link);
    await ctrlC;
  } finally {
    await dask.close().catch(() => {});
    await gone;
  }
}

async function attached(
  address: string,
  ctrlC: Promise<void>,
  options: Options,
  observers: () => readonly TraceWriter[] = () => [],
): Promise<DaskObservation> {
  const { python, timeout, ca, cert, key } = options;
  const watching = observeDask(address, { python, timeout, security: { ca, cert, key }, observers });
  const dask = await Promise.race([failingLater(WRONG_USAGE, watching), ctrlC]);
  // The bridge ends with this process.
  if (dask === undefined) process.exit(INTERRUPTED);
  note(`longpole: watching ${address}, ${countText(dask.workers, 'worker')}; Ctrl-C ends it.`);
  return dask;
}

/**
 * Until Ctrl-C, the end of the time or of the cluster; then nothing is left on the cluster. A cluster or a bridge that ends
 * before is a failure: what was written is not all that was asked for.
 */
async function watch(dask: DaskObservation, ctrlC: Promise<void>, limit?: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const time = new Promise<void>((done) => {
    if (limit !== undefined) timer = setTimeout(done, Math.min(limit, MAX_TIMER_SECONDS) * 1000);
  });
  // A bridge that failed has told what came before: that is kept.
  const gone = dask.closed.then(
    (reason) => reason,
    (error: unknown) => messageOf(error),
  );
  const isEarly = await Promise.race([
    ctrlC.then(() => false),
    time.then(() => false),
    gone.then(() => true),
  ]);
  clearTimeout(timer);
  await dask.close().catch(() => {});
  const reason = await gone;
  if (reason !== 'asked') note(`longpole: ${isEarly ? 'the watching ended early: ' : ''}${reason}`);
  if (isEarly) process.exitCode = FAILED;
}

function summary(trace: Trace): void {
  if (trace.tasks.length === 0) note('nothing was recorded: the cluster ran no tasks meanwhile.');
  else process.stderr.write(summaryText(failingWith(FAILED, () => summarise(trace))));
}

function messageOf(error: unknown): string {
  return error instanceof LongpoleError ? `${error.message} (${error.code})` : String(error);
}
