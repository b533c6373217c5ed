// Reads every JavaScript file below node_modules, parses each file in a separate task, and merges the summaries in a
// tree. Shows a progress bar and uses all three profilers. `longpole demo` runs this program.
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { Delayed } from 'longpole';
import { CacheProfiler, Profiler, ProgressBar, ResourceProfiler, visualize } from 'longpole/diagnostics';
import { formatReport, makeReport } from './report.js';
import { findSourceFiles, ownNodeModules } from './sourceFiles.js';
import type { Summary } from './summary.js';
import { merge, parse } from './tasks.js';

const USAGE = `Usage: longpole demo [options]

Parses every JavaScript file below a node_modules folder in parallel, and
writes a page that shows what every worker did.

Options:
  --dir DIR      folder to read (default: the node_modules of this installation)
  --workers N    worker threads (default: one per core)
  --page FILE    where to write the page (default: longpole-demo.html)
  --json         print the result as JSON
  -h, --help     show this text
`;
/** Summaries per merge. A wide tree has few levels. */
const FAN_IN = 16;

interface Settings {
  readonly folder: string;
  readonly workers: number | undefined;
  readonly page: string;
  readonly json: boolean;
}

/** Returns the graph: one task per file, and a tree of merges that ends with one summary. */
function summaryOf(folder: string, files: readonly string[]): Delayed<Summary> {
  let level = files.map((path, file) => parse(join(folder, path), file));
  do {
    const above: Delayed<Summary>[] = [];
    for (let i = 0; i < level.length; i += FAN_IN) above.push(merge(level.slice(i, i + FAN_IN)));
    level = above;
  } while (level.length > 1);
  const root = level[0];
  if (root === undefined) throw new RangeError('There is no file to read.');
  return root;
}

async function main({ folder, workers, page, json }: Settings): Promise<void> {
  const files = findSourceFiles(folder);
  if (files.length === 0) throw new UsageError(`There is no .js, .mjs or .cjs file below ${folder}.`);
  // With --json only the result goes to stdout.
  const out = json ? process.stderr : process.stdout;
  out.write(`Parsing ${files.length} files of ${folder}\n`);
  const profilers = [new Profiler(), new ResourceProfiler({ dt: 0.1 }), new CacheProfiler()] as const;
  const callbacks = [new ProgressBar({ out }), ...profilers];
  const summary = await summaryOf(folder, files).compute({ callbacks, numWorkers: workers });
  const written = visualize(profilers, { filename: page, title: `longpole demo: ${files.length} files` });
  const report = makeReport(folder, files, summary);
  console.log(json ? JSON.stringify({ ...report, page: written }, null, 2) : `\n${formatReport(report)}`);
  out.write(`\nWhat every worker did: ${written}\n`);
}

class UsageError extends Error {}

function readSettings(): Settings | undefined {
  const { values } = parseArgs({
    options: {
      dir: { type: 'string' },
      workers: { type: 'string' },
      page: { type: 'string', default: 'longpole-demo.html' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return undefined;
  const folder = resolve(values.dir ?? ownNodeModules());
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new UsageError(`--dir ${folder} is not a folder.`);
  }
  const workers = values.workers === undefined ? undefined : Number(values.workers);
  if (workers !== undefined && (!Number.isInteger(workers) || workers < 1)) {
    throw new UsageError(`--workers must be a whole number above 0, not ${values.workers}.`);
  }
  const page = resolve(values.page);
  if (statSync(dirname(page), { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new UsageError(`--page ${page} cannot be written: its folder does not exist.`);
  }
  if (!/\.html?$/i.test(page)) throw new UsageError(`--page ${values.page} must end in .html.`);
  try {
    accessSync(existsSync(page) ? page : dirname(page), constants.W_OK);
  } catch {
    throw new UsageError(`--page ${page} cannot be written: permission denied. Pass another path.`);
  }
  return { folder, workers, page, json: values.json };
}

function isUsageError(error: unknown): error is Error {
  if (error instanceof UsageError) return true;
  // parseArgs throws these for unknown options and missing values.
  return error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS');
}

try {
  const settings = readSettings();
  if (settings === undefined) process.stdout.write(USAGE);
  else await main(settings);
} catch (error) {
  if (!isUsageError(error)) throw error;
  process.stderr.write(`${error.message}\n\n${USAGE}`);
  process.exitCode = 2;
}
