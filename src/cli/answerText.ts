// The output of `longpole analyze` in pieces, because tables of millions of tasks exceed the longest string.
import type { Question, Table } from '../api/analysis.js';
import type { OpenedTrace } from '../api/trace.js';

/** Minimum number of characters in a piece. */
const PIECE = 1 << 16;

export interface Answer {
  readonly question: Question;
  readonly table: Table;
}

export interface AnsweredTrace {
  readonly opened: OpenedTrace;
  readonly answers: readonly Answer[];
}

/** Joins texts to fewer pieces. */
export function* inPieces(texts: Iterable<string>): Generator<string> {
  let piece = '';
  for (const text of texts) {
    piece += text;
    if (piece.length < PIECE) continue;
    yield piece;
    piece = '';
  }
  if (piece !== '') yield piece;
}

/** Adds line ends. */
export function* ended(lines: Iterable<string>): Generator<string> {
  for (const line of lines) yield `${line}\n`;
}

/**
 * Yields all answers as one JSON array, like JSON.stringify with an indent of 1. Tables have their first `head` rows.
 */
export function* jsonAnswers(
  traces: readonly AnsweredTrace[],
  head = Number.POSITIVE_INFINITY,
): Generator<string> {
  for (const [i, { opened, answers }] of traces.entries()) {
    yield `${i === 0 ? '[' : ','}\n {\n  "trace": ${JSON.stringify(opened.name)},`;
    yield `\n  "damage": ${json(opened.trace.damage ?? null, '  ')},\n  "analyses": {`;
    for (const [j, { question, table }] of answers.entries()) {
      yield `${j === 0 ? '' : ','}\n   ${JSON.stringify(question.name)}: {`;
      yield `\n    "title": ${JSON.stringify(question.title)},`;
      yield `\n    "columns": ${json(table.columns, '    ')},\n    "length": ${table.length},\n    "rows": `;
      yield* rowsText(table.head(head), '    ');
      yield '\n   }';
    }
    yield answers.length === 0 ? '}\n }' : '\n  }\n }';
  }
  yield '\n]\n';
}

/** Yields the rows of a table as a JSON file. */
export function* jsonRows(table: Table): Generator<string> {
  yield* rowsText(table, '');
  yield '\n';
}

function* rowsText(table: Table, indent: string): Generator<string> {
  if (table.length === 0) {
    yield '[]';
    return;
  }
  let before = '[';
  for (const row of table.eachRow()) {
    yield `${before}\n${indent} ${json(row, `${indent} `)}`;
    before = ',';
  }
  yield `\n${indent}]`;
}

function json(value: unknown, indent: string): string {
  return JSON.stringify(value, null, 1).replaceAll('\n', `\n${indent}`);
}
