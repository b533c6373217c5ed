// `longpole analyze`: prints the analyses of traces as tables, or writes them to files.
import { existsSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  cutOffTexts,
  nothingFoundIn,
  QUESTIONS,
  type Question,
  type Table,
  TraceAnalyser,
} from '../api/analysis.js';
import { makeFolder, writePieces } from '../api/folders.js';
import type { OpenedTrace, Trace } from '../api/trace.js';
import { inPieces } from '../base/pieces.js';
import { visibleName } from '../base/visibleText.js';
import { countText } from '../base/words.js';
import { type InputOptions, openInput, withInputOptions } from './openInput.js';
import { refuseStandardOutput } from './outputFile.js';
import { Progress, requested } from './progress.js';
import { findingText, LONGEST_SENTENCE } from './run/summaryText.js';
import { tableLines, wrapped } from './tableLayout.js';
import {
  CommandError,
  FAILED,
  failingWith,
  heading,
  note,
  outputWidth,
  print,
  runCommand,
  WRONG_USAGE,
} from './terminal.js';

const FORMATS = ['table', 'csv', 'json'] as const;
type Format = (typeof FORMATS)[number];
const EXTENSIONS = { table: '.txt', csv: '.csv', json: '.json' } as const;
/** Rows of a table in a terminal. Files and other outputs have all rows. */
const SHOWN_ROWS = 10;
/** Rows of a trace, in all tables, for which one analysis takes a second. */
const LARGE = 2_000_000;

/** The analysis with a table of sentences. */
const FINDINGS = 'findings';

interface AnalyzeOptions extends InputOptions {
  readonly analyses: readonly Question[];
  readonly output?: string;
  readonly format: Format;
  readonly json?: boolean;
  readonly head?: number;
  readonly compat?: 'dasf';
}

/** DASF's tables by the names of our analyses. */
const DASF_TABLES = new Map<string, (analyser: TraceAnalyser) => Table>([
  ['function-bottleneck', (analyser) => analyser.perFunctionBottleneck()],
  ['task-bottleneck', (analyser) => analyser.perTaskBottleneck()],
  ['task-balance', (analyser) => analyser.perWorkerTaskBalance()],
]);

export function addAnalyze(program: Command): void {
  const names = QUESTIONS.map(({ name, title }) => `  ${name.padEnd(24)}${title}`).join('\n');
  withInputOptions(
    program
      .command('analyze')
      .description('print analyses of recorded traces as tables')
      .argument('<trace...>', 'trace directories, reports, Chrome Trace JSON, or event files of DASF')
      .addOption(
        new Option('-a, --analyses <names>', 'names of analyses, separated by commas')
          .argParser(parseAnalyses)
          .default(QUESTIONS, 'all'),
      )
      .option('-o, --output <folder>', 'write one file per table to this folder instead of printing')
      .addOption(
        new Option('-f, --format <format>', 'format of the output').choices(FORMATS).default('table'),
      )
      .addOption(new Option('--json', 'the same as --format json').conflicts('format'))
      .option(
        '--head <rows>',
        `rows of each table (default: ${SHOWN_ROWS} in a terminal, otherwise all)`,
        parseRows,
      )
      .addOption(
        new Option('--compat <tool>', "compute DASF's three tables as DASF does, with its errors").choices([
          'dasf',
        ]),
      ),
  )
    .addHelpText('after', `\nAnalyses:\n${names}\n\nSeveral event files of DASF are read as one trace.`)
    .action((files: readonly string[], options: AnalyzeOptions) => runCommand(() => analyze(files, options)));
}

/** Parses names of analyses. Accepts DASF's names, e.g. `function_bottleneck` and `per_worker_task_balance`. */
function parseAnalyses(text: string): Question[] {
  const named = text.split(',').map((name) => {
    const own = name.trim().replaceAll('_', '-');
    const short = own.replace(/^per-(worker-)?/, '');
    const question = QUESTIONS.find(
      (one) => one.name === own || (one.name === short && DASF_TABLES.has(short)),
    );
    if (question !== undefined) return question;
    throw new InvalidArgumentError(
      `There is no analysis '${name}'. The analyses are: ${QUESTIONS.map((one) => one.name).join(', ')}.`,
    );
  });
  return [...new Set(named)];
}

/** Explains how to choose analyses if a missing file has the name of one. */
function refuseNames(files: readonly string[]): void {
  const names = files.filter((file) => QUESTIONS.some(({ name }) => name === file) && !existsSync(file));
  if (names.length === 0) return;
  const traces = files.filter((file) => !names.includes(file)).join(' ') || 'TRACE';
  throw new CommandError(
    `'${names[0]}' is no file. It is the name of an analysis: longpole analyze ${traces} --analyses ${names.join(',')}`,
    WRONG_USAGE,
  );
}

function parseRows(text: string): number {
  const rows = Number(text);
  if (/^\d+$/.test(text) && rows >= 1) return rows;
  throw new InvalidArgumentError('Pass a whole number of at least 1.');
}

async function analyze(files: readonly string[], options: AnalyzeOptions): Promise<void> {
  const format = options.json === true ? 'json' : options.format;
  refuseNames(files);
  refuseStandardOutput('--output', options.output, 'Without the option, the tables go there.');
  const traces = openInput(files, options);
  if (options.output !== undefined) {
    writeAnswers(traces, options.output, format, options);
    return;
  }
  if (format === 'json') {
    // Answers every trace before printing, so that an unreadable one leaves no partial output.
    const answered = traces.map((trace) =>
      jsonAnswers(trace, [...answersOf(trace, options, true)], options.head),
    );
    await printPieces(jsonText(answered));
    return;
  }
  for (const [i, trace] of traces.entries()) {
    if (i > 0) await print('\n');
    if (traces.length > 1) await print(`${format === 'csv' ? '# ' : ''}${heading(trace.name)}\n\n`);
    await printAnswers(trace, format, options);
  }
}

function* answersOf(
  { trace }: OpenedTrace,
  { analyses, compat, progress: shown }: AnalyzeOptions,
  withResult = false,
): Generator<Answer> {
  const after = trace.eventCount >= LARGE ? { after: 0 } : {};
  const progress = new Progress('analysing', { ...after, ...requested(shown) });
  for (const [i, question] of analyses.entries()) {
    progress.part(i / analyses.length);
    let answer: Answer | undefined;
    try {
      answer = answerOf(question, trace, compat, withResult);
    } finally {
      progress.end();
    }
    if (answer !== undefined) yield answer;
  }
}

/**
 * Runs an analysis. If the trace has no answer, e.g. because of damaged times, prints the error and returns undefined.
 */
function answerOf(
  question: Question,
  trace: Trace,
  compat: 'dasf' | undefined,
  withResult: boolean,
): Answer | undefined {
  const ofDasf = compat && DASF_TABLES.get(question.name);
  try {
    return failingWith(FAILED, () => {
      if (ofDasf !== undefined)
        return { question, table: ofDasf(new TraceAnalyser(trace, { compat: 'dasf' })) };
      const answer = withResult ? question.runWithResult?.(trace) : undefined;
      return { question, ...(answer ?? { table: question.run(trace) }) };
    });
  } catch (error) {
    if (!(error instanceof CommandError && error.exitCode === FAILED)) throw error;
    note(`longpole: ${question.name} has no answer: ${error.message}`);
    process.exitCode = FAILED;
    return undefined;
  }
}

async function printAnswers(
  trace: OpenedTrace,
  format: 'table' | 'csv',
  options: AnalyzeOptions,
): Promise<void> {
  if (format === 'table')
    for (const text of cutOffTexts(trace.trace))
      await printPieces([...ended(wrapped(visibleName(text, LONGEST_SENTENCE), outputWidth())), '\n']);
  let first = true;
  for (const { question, table } of answersOf(trace, options)) {
    if (!first) await print('\n');
    first = false;
    if (format === 'csv') {
      // Several tables are separated by lines with their names.
      if (options.analyses.length > 1) await print(`# ${question.name}\n`);
      await printPieces(table.head(options.head ?? Number.POSITIVE_INFINITY).csvPieces());
    } else {
      const rows = options.head ?? (process.stdout.isTTY ? SHOWN_ROWS : Number.MAX_SAFE_INTEGER);
      await print(`${heading(question.title)}\n`);
      if (table.length === 0 && question.name !== FINDINGS) await print('(no rows)\n');
      else if (question.name === FINDINGS)
        await printPieces(ended(findingLines(trace.trace, table, outputWidth(), rows)));
      else await printPieces(ended(tableLines(table, outputWidth(), rows, heading)));
    }
  }
}

async function printPieces(texts: Iterable<string>): Promise<void> {
  for (const piece of inPieces(texts)) await print(piece);
}

function withoutTasks(trace: Trace): string {
  if (cutOffTexts(trace).length > 0) return 'No task ended.';
  return trace.damage === undefined ? 'No task ran.' : 'The damaged trace has no task.';
}

/** Returns the findings as sentences instead of cells. */
function findingLines(trace: Trace, table: Table, width: number, rows: number): readonly string[] {
  const lines = table.head(rows).rows.flatMap((row, i) => {
    const text = (title: string): string => visibleName(String(row[title] ?? ''), LONGEST_SENTENCE);
    return findingText(i + 1, {
      title: text('Finding'),
      seconds: Number(row['Costs (s)']),
      confidence: text('Confidence'),
      evidence: text('Evidence'),
      advice: text('Try'),
    });
  });
  if (lines.length === 0)
    return wrapped(visibleName(nothingFoundIn(trace) || withoutTasks(trace), LONGEST_SENTENCE), width);
  return lines.flatMap((line) => wrapped(line, width));
}

/** Writes one file per table. Each of several traces has a folder. */
function writeAnswers(
  traces: readonly OpenedTrace[],
  output: string,
  format: Format,
  options: AnalyzeOptions,
): void {
  for (const [i, trace] of traces.entries()) {
    const folder =
      traces.length === 1 ? output : join(output, `${i + 1}-${basename(resolve(trace.files[0] ?? ''))}`);
    failingWith(FAILED, () => makeFolder(folder));
    let count = 0;
    for (const { question, table } of answersOf(trace, options)) {
      count++;
      const shown = table.head(options.head ?? Number.POSITIVE_INFINITY);
      const file = join(folder, `${question.name}${EXTENSIONS[format]}`);
      failingWith(FAILED, () => writePieces(file, inPieces(tableFile(shown, format))));
    }
    note(`longpole: ${countText(count, 'table')} written to ${folder}`);
  }
}

function tableFile(table: Table, format: Format): Iterable<string> {
  if (format === 'csv') return table.csvPieces();
  if (format === 'json') return jsonText(table.eachRow());
  return ended(tableLines(table, Number.POSITIVE_INFINITY, table.length));
}

interface Answer {
  readonly question: Question;
  readonly table: Table;
  /** The values that the table shows, see `Question.runWithResult`. */
  readonly result?: object;
}

function* ended(lines: Iterable<string>): Generator<string> {
  for (const line of lines) yield `${line}\n`;
}

/** Returns what the JSON of a trace has. Tables have their first `head` rows. */
function jsonAnswers(
  { name, trace }: OpenedTrace,
  answers: readonly Answer[],
  head = Number.POSITIVE_INFINITY,
) {
  const analyses = answers.map(({ question, table, result }): [string, object] => {
    const { columns, length } = table;
    const rows = table.head(head).eachRow();
    return [question.name, { title: question.title, columns, length, rows, result }];
  });
  return { trace: name, damage: trace.damage ?? null, analyses: Object.fromEntries(analyses) };
}

function* jsonText(value: object): Generator<string> {
  yield* jsonPieces(value, '');
  yield '\n';
}

/** Yields the text of JSON.stringify with an indent of 1 in pieces, because it may be longer than the longest string. */
function* jsonPieces(value: unknown, indent: string): Generator<string> {
  if (typeof value !== 'object' || value === null) yield JSON.stringify(value) ?? 'null';
  else if ('toJSON' in value && typeof value.toJSON === 'function') yield* jsonPieces(value.toJSON(), indent);
  else if (isList(value)) {
    let before = '[';
    for (const item of value) {
      yield `${before}\n${indent} `;
      yield* jsonPieces(item, `${indent} `);
      before = ',';
    }
    yield before === '[' ? '[]' : `\n${indent}]`;
  } else if (Object.values(value).some((one) => typeof one === 'object' && one !== null)) {
    let before = '{';
    for (const [name, item] of Object.entries(value)) {
      if (item === undefined) continue;
      yield `${before}\n${indent} ${JSON.stringify(name)}: `;
      yield* jsonPieces(item, `${indent} `);
      before = ',';
    }
    yield `\n${indent}}`;
  } else yield JSON.stringify(value, null, 1).replaceAll('\n', `\n${indent}`);
}

/** The rows of a table come from a generator. */
function isList(value: object): value is Iterable<unknown> {
  return Array.isArray(value) || 'next' in value;
}
