// `longpole simulate`: the makespan of a recorded trace under other conditions.
import type { Command } from 'commander';
import { type Scaling, type SimulateOptions, scaling } from '../api/analysis.js';
import { crewText, secondsText } from '../base/words.js';
import { type InputOptions, maxUnpackedOption, openOne } from './openInput.js';
import { layoutTable } from './tableLayout.js';
import { failingWith, heading, outputWidth, print, printText, runCommand, WRONG_USAGE } from './terminal.js';
import { parseBandwidth, parseBytes, parseCounts, parseFactor, parseSeconds } from './units.js';

interface Options extends InputOptions, Omit<SimulateOptions, 'workers' | 'start' | 'stop'> {
  readonly workers?: readonly number[];
  readonly json?: boolean;
}

export function addSimulate(program: Command): void {
  program
    .command('simulate')
    .description('predict the makespan of a recorded trace under other conditions')
    .argument(
      '<trace...>',
      'a trace directory, Chrome Trace JSON, or event files of DASF, which are read as one trace',
    )
    .option(
      '-w, --workers <counts>',
      'numbers of workers, joined by commas (default: as many as are worth it)',
      parseCounts,
    )
    .option('--faster <prefix=k>', 'tasks of this prefix become k times faster; may be repeated', parseFactor)
    .option('--split <prefix=k>', 'each task of this prefix becomes k tasks; may be repeated', parseFactor)
    .option('--bandwidth <rate>', 'between two workers, e.g. 10Gbit or 500MB/s', parseBandwidth)
    .option('--memory-limit <size>', 'of each worker, e.g. 4GB; 0: none', parseBytes)
    .option(
      '--scheduler-overhead <seconds>',
      'of the scheduler for each task, e.g. 200us; 0: none',
      parseSeconds,
    )
    .option('--json', 'print JSON')
    .addOption(maxUnpackedOption)
    .addHelpText(
      'after',
      '\nWhat is not given is as it was recorded. Low and high: between them the makespan would lie.',
    )
    .action((files: readonly string[], options: Options) => runCommand(() => runSimulate(files, options)));
}

async function runSimulate(
  files: readonly string[],
  { json, maxUnpacked, ...options }: Options,
): Promise<void> {
  const opened = openOne(files, { maxUnpacked });
  const { rows, usefulWorkers, recorded, toTable } = failingWith(WRONG_USAGE, () =>
    scaling(opened.trace, options),
  );
  if (json === true) {
    const useful = Number.isFinite(usefulWorkers) ? usefulWorkers : null;
    await print(
      `${JSON.stringify({ trace: opened.name, usefulWorkers: useful, recorded, rows }, null, 1)}\n`,
    );
    return;
  }
  if (rows.length === 0) {
    await printText('The trace has no tasks.\n');
    return;
  }
  await print(`${layoutTable(toTable(), outputWidth(), rows.length, heading)}\n\n`);
  await printText(recordedText(recorded));
  await printText(
    Number.isFinite(usefulWorkers)
      ? `Beyond ${crewText(usefulWorkers, recorded.threadsPerWorker)} another one adds less than a tenth of the first.\n`
      : 'Another worker is worth having up to at least 4,096.\n',
  );
}

/** Cores of other programs, from where a prediction is no better than they are steady. */
const MIN_OTHERS = 0.15;

function recordedText({ workers, threadsPerWorker, makespan, others }: Scaling['recorded']): string {
  const beside =
    others >= MIN_OTHERS
      ? `Other programs kept ${others.toFixed(1)} cores busy meanwhile:\na recording without them predicts better.\n`
      : '';
  return `Recorded with ${crewText(workers, threadsPerWorker)}: ${secondsText(makespan)}. ${beside}`
    .trimEnd()
    .concat('\n');
}
