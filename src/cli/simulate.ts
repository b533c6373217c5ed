// `longpole simulate`: predicts the makespan of a recorded trace under other conditions.
import type { Command } from 'commander';
import { cutOffTexts, type Scaling, type SimulateOptions, scaling } from '../api/analysis.js';
import { crewText, secondsText } from '../base/words.js';
import { type InputOptions, ONE_TRACE, openOne, withInputOptions } from './openInput.js';
import { layoutTable } from './tableLayout.js';
import { failingWith, heading, outputWidth, print, printText, runCommand, WRONG_USAGE } from './terminal.js';
import { parseBandwidth, parseBytes, parseCounts, parseFactor, parseSeconds } from './units.js';

interface Options extends InputOptions, Omit<SimulateOptions, 'workers' | 'start' | 'stop'> {
  readonly workers?: readonly number[];
  readonly json?: boolean;
}

export function addSimulate(program: Command): void {
  withInputOptions(
    program
      .command('simulate')
      .description('predict the makespan of a recorded trace under other conditions')
      .argument('<trace...>', ONE_TRACE)
      .option(
        '-w, --workers <counts>',
        'numbers of workers, separated by commas (default: 1, 2, 4, … as long as more workers help)',
        parseCounts,
      )
      .option(
        '--faster <prefix=k>',
        'tasks of this prefix become k times faster; may be repeated',
        parseFactor,
      )
      .option('--split <prefix=k>', 'each task of this prefix becomes k tasks; may be repeated', parseFactor)
      .option('--bandwidth <rate>', 'bandwidth between two workers, e.g. 10Gbit or 500MB/s', parseBandwidth)
      .option('--memory-limit <size>', 'memory of each worker, e.g. 4GB; 0 for no limit', parseBytes)
      .option(
        '--scheduler-overhead <seconds>',
        "the scheduler's time per task, e.g. 200us; 0 for none",
        parseSeconds,
      )
      .option('--json', 'print JSON'),
  )
    .addHelpText(
      'after',
      '\nOmitted conditions are those of the recording. The makespan is expected between low and high.',
    )
    .action((files: readonly string[], options: Options) => runCommand(() => runSimulate(files, options)));
}

async function runSimulate(
  files: readonly string[],
  { json, maxUnpacked, progress, ...options }: Options,
): Promise<void> {
  const opened = openOne(files, { maxUnpacked, progress });
  const { rows, usefulWorkers, recorded, lock, unfit, toTable } = failingWith(WRONG_USAGE, () =>
    scaling(opened.trace, options),
  );
  if (json === true) {
    const useful = Number.isFinite(usefulWorkers) ? usefulWorkers : null;
    await print(
      `${JSON.stringify({ trace: opened.name, usefulWorkers: useful, recorded, lock, unfit, rows }, null, 1)}\n`,
    );
    return;
  }
  if (rows.length === 0) {
    await printText('The trace has no tasks.\n');
    return;
  }
  if (unfit !== undefined) {
    await printText(`${unfit}\n`);
    await printText(recordedText(recorded));
    return;
  }
  await print(`${layoutTable(toTable(), outputWidth(), rows.length, heading)}\n\n`);
  await printText(recordedText(recorded));
  for (const text of cutOffTexts(opened.trace))
    await printText(`${text}\nThe makespan is that of the tasks that ended.\n`);
  await printText(
    Number.isFinite(usefulWorkers)
      ? `Beyond ${crewText(usefulWorkers, recorded.threadsPerWorker)}, another worker adds less than a tenth of the first one.\n`
      : 'Another worker helps up to at least 4,096 workers.\n',
  );
  if (lock !== undefined)
    await printText(
      `No number of workers makes it faster than ${secondsText(lock.seconds)}:\nfor this time, tasks wait for ${lock.object} while others hold it.\n`,
    );
}

/** Cores used by other programs from which the output has a warning, because this load may vary. */
const MIN_OTHERS = 0.15;

function recordedText({ workers, threadsPerWorker, makespan, others }: Scaling['recorded']): string {
  const beside =
    others >= MIN_OTHERS
      ? `Other programs kept ${others.toFixed(1)} cores busy meanwhile.\nRecord without them for a better prediction.\n`
      : '';
  return `Recorded with ${crewText(workers, threadsPerWorker)}: ${secondsText(makespan)}. ${beside}`
    .trimEnd()
    .concat('\n');
}
