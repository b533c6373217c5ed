// The output of `longpole analyze` in pieces, because tables of millions of tasks exceed the longest string.
import type { Question, Table } from '../api/analysis.js';
import type { OpenedTrace } from '../api/trace.js';

/** Minimum number of characters in a piece. */
const PIECE = 1 << 16;

export interface Answer {
  readonly question: Question;
  readonly table: Table;
  /** The values that the table shows, see `Question.runWithResult`. */
  readonly result?: object;
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
    for (const [j, { question, table, result }] of answers.entries()) {
      yield `${j === 0 ? '' : ','}\n   ${JSON.stringify(question.name)}: {`;
      yield `\n    "title": ${JSON.stringify(question.title)},`;
      yield `\n    "columns": ${json(table.columns, '    ')},\n    "length": ${table.length},\n    "rows": `;
      yield* itemsText(table.head(head).eachRow(), '    ');
      if (result !== undefined) {
        yield ',\n    "result": ';
        yield* resultText(result, '    ');
      }
      yield '\n   }';
    }
    yield answers.length === 0 ? '}\n }' : '\n  }\n }';
  }
  yield '\n]\n';
}

/** Yields the rows of a table as a JSON file. */
export function* jsonRows(table: Table): Generator<string> {
  yield* itemsText(table.eachRow(), '');
  yield '\n';
}

/** Yields an array, or an object, whose arrays may be longer than the longest string. */
function* resultText(result: object, indent: string): Generator<string> {
  const plain: unknown = 'toJSON' in result && typeof result.toJSON === 'function' ? result.toJSON() : result;
  if (Array.isArray(plain)) yield* itemsText(plain, indent);
  else {
    let before = '{';
    for (const [name, value] of Object.entries(Object(plain))) {
      yield `${before}\n${indent} ${JSON.stringify(name)}: `;
      if (Array.isArray(value)) yield* itemsText(value, `${indent} `);
      else yield json(value, `${indent} `);
      before = ',';
    }
    yield `\n${indent}}`;
  }
}

function* itemsText(items: Iterable<unknown>, indent: string): Generator<string> {
  let before = '[';
  for (const item of items) {
    yield `${before}\n${indent} ${json(item, `${indent} `)}`;
    before = ',';
  }
  yield before === '[' ? '[]' : `\n${indent}]`;
}

function json(value: unknown, indent: string): string {
  return JSON.stringify(value, null, 1).replaceAll('\n', `\n${indent}`);
}
