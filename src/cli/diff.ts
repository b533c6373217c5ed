// `longpole diff`: compares two runs, or two sets of runs, and fails in continuous integration if the second is slower.
import { basename } from 'node:path';
import type { Command } from 'commander';
import { type Diff, diff, type Table } from '../api/analysis.js';
import { writeDiffPage } from '../api/diagnostics.js';
import { checkArgument, PAGE_FILE } from '../base/arguments.js';
import { visibleText } from '../base/visibleText.js';
import { type InputOptions, openOne, withInputOptions } from './openInput.js';
import { prepareOutputFile } from './outputFile.js';
import { layoutTable } from './tableLayout.js';
import {
  FAILED,
  failingWith,
  heading,
  note,
  outputWidth,
  print,
  runCommand,
  WRONG_USAGE,
} from './terminal.js';
import { parseShare } from './units.js';

const SHOWN_ROWS = 20;
const SHOWN_PLACES = 30;

interface Options extends InputOptions {
  readonly failOver?: number;
  readonly json?: boolean;
  readonly page?: string;
}

export function addDiff(program: Command): void {
  withInputOptions(
    program
      .command('diff')
      .description('report what became slower or faster between two traces, apart from noise')
      .argument('<before>', 'a trace, or several of the same program separated by commas')
      .argument('<after>', 'a trace, or several separated by commas')
      .option(
        '--fail-over <share>',
        'exit with code 1 if the run became slower by more than this share, e.g. 5%',
        parseShare,
      )
      .option('--page <file>', 'also write a page with the table and a flame graph of the call stacks')
      .option('--json', 'print JSON'),
  )
    .addHelpText('after', '\nWith three or more runs on each side, smaller differences become significant.')
    .action((before: string, after: string, options: Options) =>
      runCommand(() => runDiff(before, after, options)),
    );
}

async function runDiff(before: string, after: string, options: Options): Promise<void> {
  const { failOver, json, page } = options;
  if (page !== undefined) {
    failingWith(WRONG_USAGE, () => checkArgument('--page', page, PAGE_FILE));
    prepareOutputFile(page);
  }
  const open = (names: string) =>
    names
      .split(',')
      .filter((file) => file !== '')
      .map((file) => openOne([file], options).trace);
  const result = failingWith(WRONG_USAGE, () =>
    diff(open(before), open(after), failOver === undefined ? {} : { failOver }),
  );
  await print(json === true ? jsonOf(result) : textOf(result));
  if (page !== undefined) {
    const path = failingWith(FAILED, () =>
      writeDiffPage(result, page, { before: sideName(before), after: sideName(after) }),
    );
    note(`longpole: wrote ${path}`);
  }
  if (result.failed) process.exitCode = FAILED;
}

/** Returns a short name of a side: that of its first trace. */
function sideName(names: string): string {
  const [first = '', ...others] = names.split(',').map((name) => basename(name));
  return others.length === 0 ? first : `${first} and ${others.length} more`;
}

function textOf(result: Diff): string {
  const text = (table: Table, rows: number) => layoutTable(table, outputWidth(), rows, heading);
  const stacks = result.stacksTable();
  const places = stacks === undefined || stacks.length === 0 ? '' : `${text(stacks, SHOWN_PLACES)}\n\n`;
  return `${text(result.toTable(), SHOWN_ROWS)}\n\n${places}${visibleText(result.reason)}\n`;
}

/** JSON.stringify writes NaN and Infinity as null. */
function jsonOf({ rows, failed, reason, stacks }: Diff): string {
  return `${JSON.stringify({ failed, reason, rows, stacks: stacks ?? null }, null, 1)}\n`;
}
