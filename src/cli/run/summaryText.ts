// Formats the summary of a run as text with 80 columns.
import { isWorthNaming } from '../../api/analysis.js';
import { visibleName, visibleText } from '../../base/visibleText.js';
import {
  bytesText,
  countText,
  integerText,
  percentText,
  repeatedWords,
  secondsText,
} from '../../base/words.js';
import { wrapped } from '../tableLayout.js';
import type { LongPole, PrefixSummary, Summary } from './summary.js';

const WIDTH = 80;
/** Width of the labels at the start of lines. */
const MARGIN = 11;
const MAX_WORKERS = 8;
const MAX_PREFIXES = 5;
const MAX_PARTS = 5;
/** Failed tasks with their errors. */
const MAX_TASKS = 3;
/** Findings with evidence and advice. */
const FULL_FINDINGS = 3;
const MAX_NAME = 24;
/** Smallest share of the seconds of tasks from which a line says that they awaited promises. */
const MIN_AWAITED = 0.1;
/** Characters of the longest sentence. A finding names prefixes, spans and functions, which may have any length. */
export const LONGEST_SENTENCE = 2000;

/** Returns lines of at most 80 characters with line ends. */
export function summaryText(summary: Summary): string {
  const lines = [
    ...labelled('tasks', [tasksText(summary)]),
    ...labelled('program', outsideTexts(summary)),
    ...labelled('failed', failedLines(summary)),
    ...labelled('cut off', summary.cutOff),
    ...labelled('lost', summary.noTaskEnded === null ? [] : [summary.noTaskEnded]),
    ...labelled('workers', workerLines(summary)),
    ...labelled('prefixes', prefixLines(summary)),
    ...labelled('moved', movedLines(summary.moved)),
    ...labelled('long pole', longPoleText(summary)),
    ...labelled('findings', findingLines(summary)),
    ...labelled('what if', speedupLines(summary)),
  ];
  return visibleText(lines.map((line) => `${line}\n`).join(''));
}

function tasksText({ tasks, failedTasks, computed, makespan, computations, workers }: Summary): string {
  const { memory, cancelled, lost, retried, skipped } = tasks;
  const others = [
    [failedTasks, 'failed'],
    [retried, repeatedWords(retried)],
    [cancelled, 'cancelled'],
    [lost, 'lost with their worker'],
    [skipped, 'did not run'],
  ] as const;
  const states = others.flatMap(([count, what]) => (count === 0 ? [] : [`, ${integerText(count)} ${what}`]));
  const where = computations === 0 ? '' : ` in ${countText(computations, 'computation')}`;
  const awaited = awaitedText(
    workers.reduce((sum, one) => sum + one.awaited, 0),
    computed,
  );
  const took = `${secondsText(computed)} of tasks${awaited === '' ? '' : `, ${awaited},`}`;
  const time = makespan === null ? '' : `; ${computed > 0 ? `${took} in ` : ''}${secondsText(makespan)}`;
  return `${integerText(memory)} done${states.join('')}${where}${time}`;
}

/** Returns which share of the seconds of tasks they awaited promises; empty for a small share. */
function awaitedText(awaited: number, computed: number): string {
  if (!(awaited > 0) || awaited < MIN_AWAITED * computed) return '';
  return `${percentText(Math.min(1, awaited / computed))} of it awaiting`;
}

function failedLines({ failed, failedTasks }: Summary): string[] {
  const shown = failed.slice(0, MAX_TASKS);
  const lines = shown.map(
    ({ key, worker, error }) => `'${key}' on ${worker}${error === '' ? '' : `: ${error}`}`,
  );
  const more = failedTasks - shown.length;
  if (shown.length > 0 && more > 0) lines.push(`and ${integerText(more)} more`);
  return lines;
}

/** Returns what the lines of workers and prefixes count. A task that ran again counts there for each of its runs. */
function unitOf({ retried, lost }: Summary['tasks']): 'run' | 'task' {
  return retried + lost > 0 ? 'run' : 'task';
}

function workerLines({ workers, tasks: states }: Summary): string[] {
  const shown = workers.slice(0, workers.length > MAX_WORKERS ? MAX_WORKERS - 1 : MAX_WORKERS);
  const lines = columns(
    shown.map(({ name, busy, tasks, computed, awaited }) => [
      shorten(name),
      `${percentText(busy)} busy`,
      computed > 0 ? secondsText(computed) : '',
      countText(tasks, unitOf(states)),
      awaitedText(awaited, computed),
    ]),
  );
  const others = workers.slice(shown.length);
  const [first, last] = [others[0], others.at(-1)];
  if (first !== undefined && last !== undefined)
    lines.push(`and ${others.length} more, ${percentText(last.busy)} to ${percentText(first.busy)} busy`);
  return lines;
}

function prefixLines({ prefixes, computed, tasks }: Summary): string[] {
  const lines = columns(
    prefixes
      .slice(0, MAX_PREFIXES)
      .map((one: PrefixSummary) => [
        shorten(one.prefix),
        one.computed > 0 ? secondsText(one.computed) : '',
        one.computed > 0 ? percentText(one.computed / computed) : '',
        countText(one.tasks, unitOf(tasks)),
        one.longest === null ? '' : `longest ${secondsText(one.longest)}`,
      ]),
  );
  const more = prefixes.length - MAX_PREFIXES;
  if (more > 0) lines.push(`and ${integerText(more)} more`);
  return lines;
}

/** Returns no line if nothing moved. Small results travel inside messages, and have 0 bytes. */
function movedLines(moved: Summary['moved']): string[] {
  if (moved === null) return [];
  const parts = [
    [moved.betweenWorkers, 'between workers'],
    [moved.shuffled, 'in P2P shuffles'],
    [moved.toWorkers, 'from the program'],
    [moved.toProgram, 'to the program'],
    [moved.spilledResults, `spilled to disk${packedText(moved)}`],
  ] as const;
  const shown = parts
    .filter(([nbytes]) => nbytes > 0)
    .map(([nbytes, what]) => `${bytesText(nbytes)} ${what}`);
  return shown.length === 0 ? [] : [shown.join(', ')];
}

/** Returns how much of the time was outside of computations, if this was most of the time. */
function outsideTexts({ outside, makespan }: Summary): string[] {
  if (outside === null || makespan === null || outside.before + outside.after < makespan) return [];
  const { before, starting, after } = outside;
  const start =
    starting >= before / 2 && before > after
      ? ` (${secondsText(starting)} for the start of its cluster)`
      : '';
  return [`${secondsText(before)} before${start} and ${secondsText(after)} after its computations`];
}

/** Dask does not record the bytes on disk. */
function packedText({ spilled, spilledResults }: NonNullable<Summary['moved']>): string {
  return spilled > 0 && spilled < 0.95 * spilledResults ? ` (${bytesText(spilled)} compressed)` : '';
}

function longPoleText({ longPole, cutOff }: Summary): string[] {
  if (longPole === null) return [];
  const { floor, parts, replaced } = longPole;
  const all = parts.reduce((sum, { seconds }) => sum + seconds, 0);
  const shown = parts.slice(0, MAX_PARTS).filter(({ seconds }) => seconds > all / 100);
  const lines = columns(
    shown.map((part) => [
      percentText(part.seconds / all),
      secondsText(part.seconds),
      partText(part, replaced),
    ]),
  );
  if (cutOff.length === 0 && floor === 0) return lines;
  return [
    ...lines,
    cutOff.length > 0
      ? 'Only of the tasks that ended.'
      : `No number of workers makes it faster than ${secondsText(floor)}.`,
  ];
}

type Part = LongPole['parts'][number];

function partText({ kind, prefix, behind }: Part, replaced: readonly string[]): string {
  if (kind === 'worker start') return 'waiting for workers to start';
  if (behind !== null && prefix !== null) return `${kind} ${shorten(behind)}: ${shorten(prefix)}`;
  if (behind !== null) return `${kind} busy with ${shorten(behind)}`;
  if (kind === 'waiting for a worker' && replaced.length > 0)
    return replaced.length === 1
      ? `waiting until ${shorten(replaced[0] ?? '')} was replaced after its loss`
      : `waiting until ${replaced.length} lost workers were replaced`;
  return prefix === null ? kind : `${kind}: ${shorten(prefix)}`;
}

function findingLines({ findings, makespan, nothingFound }: Summary): string[] {
  if (makespan === null) return [];
  if (findings.length === 0) return nothingFound === '' ? [] : [nothingFound];
  return findings.flatMap(({ title, seconds, confidence, evidence, advice }, i) => {
    const lines = findingText(i + 1, { title, seconds, confidence, evidence: evidence.text, advice });
    return i < FULL_FINDINGS ? lines : lines.slice(0, 1);
  });
}

/** Returns the predicted makespan for each prefix that shortens the run noticeably if it becomes twice as fast. */
function speedupLines({ speedups, cutOff, notSimulated }: Summary): string[] {
  // A prediction would lack the tasks that had not ended.
  if (cutOff.length > 0) return [];
  if (notSimulated !== '') return [notSimulated];
  return columns(
    speedups
      .filter(isWorthNaming)
      .map(({ prefix, makespan, gained }) => [
        `${shorten(prefix)} twice as fast`,
        secondsText(makespan),
        `−${secondsText(gained)}`,
      ]),
  );
}

export function findingText(
  number: number,
  finding: Readonly<Record<'title' | 'confidence' | 'evidence' | 'advice', string>> & {
    readonly seconds: number;
  },
): [string, string, string] {
  const { title, seconds, confidence, evidence, advice } = finding;
  return [
    `${number}. ${title} (costs ${secondsText(seconds)}, ${confidence} confidence)`,
    `   ${evidence}`,
    `   ${advice}`,
  ];
}

/** Returns wrapped lines after a label. Cleans them before, because visible symbols are wider. */
function labelled(label: string, texts: readonly string[]): string[] {
  const lines = texts.flatMap((text) => wrapped(visibleName(text, LONGEST_SENTENCE), WIDTH - MARGIN));
  return lines.map((line, i) => `${(i === 0 ? label : '').padEnd(MARGIN)}${line}`.trimEnd());
}

/** Aligns cells in columns: numbers to the right, names to the left. Leaves out empty columns. */
function columns(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows)
    for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, cell.length);
  return rows.map((row) =>
    row
      .map((cell, i) => (/^[<\d]/.test(cell) ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0)))
      .filter((_cell, i) => widths[i] !== 0)
      .join('  ')
      .trimEnd(),
  );
}

function shorten(name: string): string {
  const plain = visibleText(name.replaceAll(/\s+/g, ' '));
  return plain.length <= MAX_NAME ? plain : `${plain.slice(0, MAX_NAME - 1)}…`;
}
