// The Markdown table at the end of a soak, with one row per round name, and the list of failures with their seeds.
import { median } from '../bench/median.js';
import type { RoundResult } from './launch.js';
import { COUNTED } from './round.js';
import { passed, problems, repeating } from './soak.js';

const HEAD = [
  'round',
  'rounds',
  'failed',
  ...COUNTED,
  'operations',
  'median',
  'slowest',
  'largest process',
  'all processes',
  'processes left',
  'files left',
];

export function formatTable(results: readonly RoundResult[]): string {
  const names = [...new Set(results.map(({ name }) => name))];
  const rows = names.map((name) =>
    row(
      name,
      results.filter((one) => one.name === name),
    ),
  );
  const lines = [HEAD, HEAD.map(() => '---'), ...rows, row('all', results)];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function row(name: string, results: readonly RoundResult[]): string[] {
  const sum = (of: (result: RoundResult) => number): string =>
    String(results.reduce((total, result) => total + of(result), 0));
  const most = (of: (result: RoundResult) => number): string =>
    `${Math.round(Math.max(0, ...results.map(of)) / 1e6)} MB`;
  const seconds = results.flatMap(({ operations }) => Object.values(operations).flat());
  return [
    name,
    String(results.length),
    sum((result) => Number(!passed(result))),
    ...COUNTED.map((what) => sum(({ counts }) => counts[what])),
    String(seconds.length),
    formatSeconds(seconds.length === 0 ? undefined : median(seconds)),
    formatSeconds(seconds.length === 0 ? undefined : seconds.reduce((a, b) => Math.max(a, b))),
    most(({ peakProcess }) => peakProcess),
    most(({ peakSum }) => peakSum),
    sum(({ leftProcesses }) => leftProcesses.length),
    sum(({ leftFiles }) => leftFiles.length),
  ];
}

function formatSeconds(seconds: number | undefined): string {
  if (seconds === undefined) return '';
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
