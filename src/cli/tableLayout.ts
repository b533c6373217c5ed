// Formats a table as text with a maximum width. Long titles are wrapped, long texts lose their middle, and the
// remaining columns form another block below, which repeats the columns that identify a row.
import type { Cell, Table } from '../api/analysis.js';
import { cellText, visibleName } from '../base/visibleText.js';
import { countText } from '../base/words.js';

const GAP = '  ';
/** Minimum width of a text column. */
const MIN_TEXT = 12;
const ELLIPSIS = '…';

interface LaidOut {
  readonly title: readonly string[];
  readonly cells: readonly string[];
  readonly numeric: boolean;
  width: number;
}

export function layoutTable(...table: Parameters<typeof tableLines>): string {
  return [...tableLines(...table)].join('\n');
}

/** Yields lines with the first `maxRows` rows, without trailing spaces. `mark` decorates the lines of titles. */
export function* tableLines(
  table: Table,
  width: number,
  maxRows: number,
  mark: (text: string) => string = (text) => text,
): Generator<string> {
  const { rows } = table.head(maxRows);
  const columns = table.columns.map((title) =>
    layoutColumn(
      title,
      rows.map((row) => row[title] ?? null),
    ),
  );
  shrink(columns, width);
  for (const [i, block] of blocksOf(columns, width).entries()) {
    if (i > 0) yield '';
    yield* blockLines(block, rows.length, mark);
  }
  const more = table.length - rows.length;
  if (more > 0) yield `${ELLIPSIS} ${countText(more, 'more row')}`;
}

function layoutColumn(title: string, values: readonly Cell[]): LaidOut {
  const cells = values.map(cellText);
  const numeric = values.some((value) => typeof value === 'number');
  const widest = cells.reduce((most, { length }) => Math.max(most, length), 0);
  const lines = wrapWords(visibleName(title), Math.max(widest, 8), 0, (word) => word);
  return { title: lines, cells, numeric, width: Math.max(widest, ...lines.map((line) => line.length)) };
}

function totalWidth(columns: readonly LaidOut[]): number {
  return columns.reduce((sum, column) => sum + column.width + GAP.length, -GAP.length);
}

/** Narrows the widest text columns until the table fits, or all have the minimum width. */
function shrink(columns: readonly LaidOut[], width: number): void {
  for (let excess = totalWidth(columns) - width; excess > 0; excess = totalWidth(columns) - width) {
    const texts = columns.filter((column) => !column.numeric && column.width > MIN_TEXT);
    const widest = texts.toSorted((a, b) => b.width - a.width)[0];
    if (widest === undefined) return;
    const next = texts.filter((column) => column !== widest).map((column) => column.width);
    const target = Math.max(MIN_TEXT, widest.width - excess, ...next.filter((one) => one < widest.width));
    widest.width = target === widest.width ? widest.width - 1 : target;
  }
}

/** Groups columns to blocks that fit the width. Each block begins with the first text columns of the table. */
function blocksOf(columns: readonly LaidOut[], width: number): LaidOut[][] {
  const numbers = columns.findIndex(({ numeric }) => numeric);
  const texts = columns.slice(0, numbers < 0 ? 1 : numbers);
  const lead = totalWidth(texts) <= width / 2 ? texts : columns.slice(0, 1);
  const blocks: LaidOut[][] = [];
  let block = [...lead];
  for (const column of columns.slice(lead.length)) {
    if (block.length > lead.length && totalWidth([...block, column]) > width) {
      blocks.push(block);
      block = [...lead];
    }
    block.push(column);
  }
  blocks.push(block);
  return blocks;
}

function* blockLines(
  columns: readonly LaidOut[],
  rows: number,
  mark: (text: string) => string,
): Generator<string> {
  const height = Math.max(...columns.map(({ title }) => title.length));
  const line = (textOf: (column: LaidOut) => string): string =>
    columns
      .map((column) => {
        const text = shortened(textOf(column), column.width);
        return column.numeric ? text.padStart(column.width) : text.padEnd(column.width);
      })
      .join(GAP)
      .trimEnd();
  for (let i = 0; i < height; i++) yield mark(line(({ title }) => title[i - (height - title.length)] ?? ''));
  for (let row = 0; row < rows; row++) yield line(({ cells }) => cells[row] ?? '');
}

/** Removes the middle of a text, because keys differ at their ends. */
function shortened(text: string, width: number): string {
  if (text.length <= width) return text;
  const tail = Math.floor((width - 1) / 2);
  return `${text.slice(0, width - 1 - tail)}${ELLIPSIS}${text.slice(text.length - tail)}`;
}

const NO_BREAK = '\u00a0';
const UNIT = /(?<=\d) (?=(?:µs|ms|s|min|[kMGT]?B|%)(?![\w]))/g;

/**
 * Returns lines of at most `width` characters. Does not separate a number from its unit. Cuts a longer word. Continued
 * lines are indented like the first one, after spaces or `1. `.
 */
export function wrapped(text: string, width: number): string[] {
  if (text.length <= width) return [text];
  const indent = /^(?: +|\d+\. )/.exec(text)?.[0].length ?? 0;
  const most = width - indent;
  const cut = (word: string): string => (word.length > most ? `${word.slice(0, most - 1)}${ELLIPSIS}` : word);
  return wrapWords(text.replace(UNIT, NO_BREAK), width, indent, cut).map((line) =>
    line.replaceAll(NO_BREAK, ' '),
  );
}

/** `cut` shortens a word that is too long for a line. */
function wrapWords(text: string, width: number, indent: number, cut: (word: string) => string): string[] {
  const margin = ' '.repeat(indent);
  const lines: string[] = [];
  let line = text.startsWith(' ') ? margin : '';
  for (const word of text.trimStart().split(' ')) {
    const part = cut(word);
    const isEmpty = line.trim() === '';
    if (!isEmpty && line.length + 1 + part.length > width) {
      lines.push(line);
      line = `${margin}${part}`;
    } else line = isEmpty ? `${line}${part}` : `${line} ${part}`;
  }
  return [...lines, line];
}
