// `longpole run`: runs and records a program in a separate process, and prints a summary of its computations at the
// end.
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { TraceWriter } from '../api/traceWriter.js';
import { attempt, LongpoleError } from '../base/errors.js';
import { fieldOf } from '../base/json.js';
import { readSetting, type SettingName } from '../base/settings.js';
import { prepareOutputFile, refuseStandardOutput } from './outputFile.js';
import type { Ended, ReportOptions } from './run/report.js';
import { DIRECTORY_VARIABLE } from './run/settings.js';
import { runScript } from './runScript.js';
import { CommandError, failingWith, runCommand, WRONG_USAGE } from './terminal.js';

interface RunOptions extends ReportOptions {
  /** Address of the cluster; true if the option has none. */
  readonly dask?: string | true;
  readonly cluster?: boolean;
  readonly workers?: string;
  readonly processes?: boolean;
  readonly dashboard: boolean;
  readonly port?: string;
  readonly overwrite?: boolean;
}

export function addRun(program: Command): void {
  program
    .command('run')
    .description('run a program, and report what its computations waited for')
    .argument('[script]', 'a program in JavaScript or TypeScript')
    .argument(
      '[args...]',
      'arguments and options of the program; after -- also options with the same names as below',
    )
    .option(
      '-w, --workers <count>',
      'workers of clusters and local schedulers (default: one per core)',
      setting('workers'),
    )
    .option(
      '--cluster',
      'run compute() on a cluster, which measures more, except with callbacks for each task',
    )
    .option(
      '--dask [address]',
      'connect() and compute() use the Dask cluster at this address (default: a new one on this machine)',
    )
    .option('--node <file>', 'Node on the workers of the Dask cluster')
    .option('--processes', 'workers are processes instead of threads')
    .option('--memory-limit <size>', 'memory of each worker of a cluster, e.g. 2GB', setting('memory-limit'))
    .addOption(
      new Option('-p, --port <number>', 'port of the dashboard (default: 8787, or a free port)')
        .argParser(setting('dashboard-port', '--port'))
        .conflicts('dashboard'),
    )
    .option('--no-dashboard', 'serve no dashboard')
    .option('--report <file>', 'write a performance report: the pages of the dashboard in one file')
    .option('--trace <directory>', 'keep the trace in this directory, e.g. for longpole analyze')
    .option('--overwrite', 'replace an existing trace in the directory')
    .option('--json <file>', 'also write the summary as JSON; - for the last line of the output')
    .addHelpText(
      'after',
      '\nProgress and summary are printed to stderr. Options of the program for workers and memory, e.g. in connect(), take\n' +
        'precedence. The exit code is that of the program, or 128 plus the number of the signal that ended it.',
    )
    .allowUnknownOption()
    .action((script: string | undefined, args: readonly string[], options: RunOptions) =>
      runCommand(() => {
        const given = commandLine(script, args, options);
        return run(resolve(given.script), given.args, given.options);
      }),
    );
}

/** Corrects `--dask program.mjs`: if the address is a file, the file is the program. */
function commandLine(
  script: string | undefined,
  args: readonly string[],
  options: RunOptions,
): { readonly script: string; readonly args: readonly string[]; readonly options: RunOptions } {
  const { dask } = options;
  if (typeof dask === 'string' && existsSync(dask))
    return {
      script: dask,
      args: script === undefined ? args : [script, ...args],
      options: { ...options, dask: true },
    };
  if (script === undefined)
    throw new CommandError('the program is missing; see longpole run --help.', WRONG_USAGE);
  return { script, args, options };
}

/** Returns a function that checks a setting, which the program will read from its environment. */
function setting(name: SettingName, option = `--${name}`): (text: string) => string {
  return (text) => {
    try {
      readSetting(name, text, option);
    } catch (error) {
      if (error instanceof LongpoleError) throw new InvalidArgumentError(error.message);
      throw error;
    }
    return text;
  };
}

async function run(script: string, args: readonly string[], options: RunOptions): Promise<void> {
  // Unknown options belong to the program, so an unknown option before the script arrives here as the script.
  if (basename(script).startsWith('-') && !existsSync(script))
    throw new CommandError(`unknown option '${basename(script)}'; see longpole run --help.`, WRONG_USAGE);
  if (!existsSync(script) || !statSync(script).isFile()) {
    const why = existsSync(script) ? 'this is no file' : 'there is no such file';
    throw new CommandError(`${script}: ${why}. Pass the path of a program.`, WRONG_USAGE);
  }
  const other = otherCommandLine(script);
  if (other !== undefined) {
    process.exitCode = (await runScript(other, process.argv.slice(2))).code;
    return;
  }
  if (options.overwrite === true && options.trace === undefined)
    throw new CommandError(
      '--overwrite replaces the trace of --trace <directory>, which is missing.',
      WRONG_USAGE,
    );
  refuseStandardOutput('--report', options.report, 'The program prints there.');
  refuseStandardOutput('--trace', options.trace, 'A trace is a folder.');
  if (options.json !== undefined && options.json !== '-') prepareOutputFile(options.json);
  if (options.report !== undefined) prepareOutputFile(options.report);
  const directory = options.trace ?? temporaryFolder();
  try {
    // Writes an empty trace, so that an error of the folder is reported before the program runs.
    const { overwrite = false } = options;
    failingWith(WRONG_USAGE, () => TraceWriter.create(directory, { overwrite }).close());
    const ending = runRecorded(script, args, directory, options);
    // Loaded while the program runs: most of the analyses.
    const [{ reportRun }, ended] = await Promise.all([import('./run/report.js'), ending]);
    process.exitCode = ended.code;
    await reportRun(ended, directory, options);
  } finally {
    if (options.trace === undefined) rmSync(directory, { recursive: true, force: true });
  }
}

function temporaryFolder(): string {
  try {
    return mkdtempSync(join(tmpdir(), 'longpole-run-'));
  } catch (error) {
    throw new CommandError(
      `the run cannot be recorded in ${tmpdir()}: ${String(error)}. Set TMPDIR to a folder that can be written, or pass --trace. (ERR_LONGPOLE_LOCAL_DIRECTORY)`,
      WRONG_USAGE,
    );
  }
}

function typeScriptLoader(): string {
  try {
    return import.meta.resolve('tsx');
  } catch {
    throw new CommandError(
      'This installation has no compiler of TypeScript. Install the npm package: npm install longpole, then npx longpole run.',
      WRONG_USAGE,
    );
  }
}

async function runRecorded(
  script: string,
  args: readonly string[],
  directory: string,
  { dask, node, cluster, workers, processes, memoryLimit, dashboard, port }: RunOptions,
): Promise<Ended> {
  const loaders = /\.[cm]?tsx?$/.test(script) ? [typeScriptLoader()] : [];
  const modules = [...loaders, new URL('run/preload.js', import.meta.url).href];
  const environment = {
    ...(cluster === true || dask !== undefined ? { LONGPOLE_SCHEDULER: 'cluster' } : {}),
    [DIRECTORY_VARIABLE]: resolve(directory),
    ...(dask === undefined ? {} : { LONGPOLE_DASK: dask === true ? 'dask' : dask }),
    ...(node === undefined ? {} : { LONGPOLE_NODE: node }),
    ...(workers === undefined ? {} : { LONGPOLE_WORKERS: workers }),
    ...(processes === true ? { LONGPOLE_PROCESSES: 'true' } : {}),
    LONGPOLE_DASHBOARD: String(dashboard),
    ...(port === undefined ? {} : { LONGPOLE_DASHBOARD_PORT: port }),
    ...(memoryLimit === undefined ? {} : { LONGPOLE_MEMORY_LIMIT: memoryLimit }),
  };
  const nodeArguments = modules.flatMap((module) => ['--import', module]);
  const started = performance.now();
  const end = await runScript(script, args, { nodeArguments, environment });
  return { ...end, script, args, seconds: (performance.now() - started) / 1000 };
}

// The installation of Longpole that a program imports also records the program, even if the shell has found another
// one.

const OWN = realpathSync(fileURLToPath(new URL('../../', import.meta.url)));

/**
 * Returns the command line of the installation that the program imports; undefined for this one, or if there is none.
 */
function otherCommandLine(script: string): string | undefined {
  // The program may import Longpole by a path, or not at all.
  const manifest = attempt(() => createRequire(script).resolve('longpole/package.json'), undefined);
  if (manifest === undefined || realpathSync(dirname(manifest)) === OWN) return undefined;
  const content: unknown = JSON.parse(readFileSync(manifest, 'utf8'));
  const command = fieldOf(fieldOf(content, 'bin'), 'longpole');
  return typeof command === 'string' ? join(dirname(manifest), command) : undefined;
}
