// The Markdown tables at the end of a soak, with one row per round name and one per kind of operation, and the list of
// failures with their seeds.
import { median } from '../bench/median.js';
import type { RoundResult } from './launch.js';
import { COUNTED } from './round.js';
import { passed, problems, repeating } from './soak.js';

const HEAD = [
  'round',
  'rounds',
  'failed',
  ...COUNTED,
  'largest process',
  'all processes',
  'processes left',
  'files left',
];

const OPERATIONS_HEAD = ['round', 'operation', 'number', 'median', 'slowest', 'slowest / median'];

export function formatTable(results: readonly RoundResult[]): string {
  const rows = namesOf(results).map((name) =>
    row(
      name,
      results.filter((one) => one.name === name),
    ),
  );
  return table(HEAD, [...rows, row('all', results)]);
}

/**
 * Returns the durations of each kind of operation. Rounds whose processes were stopped do not count, because their
 * durations contain the stops.
 */
export function formatOperations(results: readonly RoundResult[]): string {
  const calm = results.filter(({ stressed }) => !stressed);
  const rows = namesOf(calm).flatMap((name) => {
    const operations = calm.filter((one) => one.name === name).map((one) => one.operations);
    return [...new Set(operations.flatMap(Object.keys))].map((operation) => {
      const seconds = operations.flatMap((one) => one[operation] ?? []);
      const [middle, slowest] = [median(seconds), seconds.reduce((a, b) => Math.max(a, b))];
      const times = (slowest / middle).toPrecision(2);
      return [name, operation, `${seconds.length}`, formatSeconds(middle), formatSeconds(slowest), times];
    });
  });
  return table(OPERATIONS_HEAD, rows);
}

function namesOf(results: readonly RoundResult[]): string[] {
  return [...new Set(results.map(({ name }) => name))];
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => '---'), ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function row(name: string, results: readonly RoundResult[]): string[] {
  const sum = (of: (result: RoundResult) => number): string =>
    String(results.reduce((total, result) => total + of(result), 0));
  const most = (of: (result: RoundResult) => number): string =>
    `${Math.round(Math.max(0, ...results.map(of)) / 1e6)} MB`;
  return [
    name,
    String(results.length),
    sum((result) => Number(!passed(result))),
    ...COUNTED.map((what) => sum(({ counts }) => counts[what])),
    most(({ peakProcess }) => peakProcess),
    most(({ peakSum }) => peakSum),
    sum(({ leftProcesses }) => leftProcesses.length),
    sum(({ leftFiles }) => leftFiles.length),
  ];
}

function formatSeconds(seconds: number): string {
  return seconds < 1 ? `${(seconds * 1000).toPrecision(3)} ms` : `${seconds.toPrecision(3)} s`;
}

/** Returns two lines per failed round: the first failure, and the command that repeats the round. */
export function formatFailures(results: readonly RoundResult[]): string {
  return results
    .filter((result) => !passed(result))
    .map((result) => {
      const first = problems(result)[0]?.split('\n')[0] ?? '';
      return `FAILED ${result.name} (seed ${result.seed}${result.stressed ? ', stressed' : ''}): ${first}\n  ${repeating(result)}`;
    })
    .join('\n');
}
