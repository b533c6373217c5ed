// The result as text and as JSON.
import type { Summary } from './summary.js';

/** Least size of a reported function. Smaller ones (`() => {}`, `(x) => x.id`) are often equal by chance. */
const SMALLEST_SHAPE = 20;
const TOP = 10;

export interface Report {
  readonly folder: string;
  readonly files: number;
  readonly lines: number;
  readonly bytes: number;
  /** Number of nodes of each type, the most frequent first. */
  readonly kinds: readonly { readonly kind: string; readonly count: number }[];
  readonly deepest: { readonly depth: number; readonly place: string };
  /** The ten most repeated shapes of functions with at least 20 syntax nodes. */
  readonly shapes: readonly { readonly count: number; readonly nodes: number; readonly place: string }[];
  readonly failures: readonly { readonly file: string; readonly message: string }[];
}

/** @param files paths by the file numbers of the summary */
export function makeReport(folder: string, files: readonly string[], summary: Summary): Report {
  const place = (file: number, line: number): string => `${files[file]}:${line}`;
  const { shapes, deepest } = summary;
  const repeated = Array.from(shapes.hashes.keys())
    .filter((i) => shapes.sizes[i]! >= SMALLEST_SHAPE && shapes.counts[i]! > 1)
    .sort((a, b) => shapes.counts[b]! - shapes.counts[a]! || shapes.sizes[b]! - shapes.sizes[a]! || a - b);
  return {
    folder,
    files: summary.files,
    lines: summary.lines,
    bytes: summary.bytes,
    kinds: [...summary.kinds]
      .map(([kind, count]) => ({ kind, count }))
      .sort((a, b) => b.count - a.count || (a.kind < b.kind ? -1 : 1)),
    deepest: { depth: deepest.depth, place: deepest.depth === 0 ? '' : place(deepest.file, deepest.line) },
    shapes: repeated.slice(0, TOP).map((i) => ({
      count: shapes.counts[i]!,
      nodes: shapes.sizes[i]!,
      place: place(shapes.files[i]!, shapes.lines[i]!),
    })),
    failures: summary.failures.map(({ file, message }) => ({ file: files[file] ?? '', message })),
  };
}

/** Returns the report as plain text without colours. */
export function formatReport(report: Report): string {
  const number = (value: number): string => value.toLocaleString('en');
  const row = (count: number, text: string): string => `${number(count).padStart(12)}  ${text}`;
  const total = report.kinds.reduce((sum, { count }) => sum + count, 0);
  const { kinds, shapes, failures } = report;
  const lines = [
    row(report.files, 'files'),
    row(report.lines, 'lines'),
    row(report.bytes, 'bytes'),
    row(total, `syntax nodes of ${kinds.length} kinds`),
    row(report.deepest.depth, `deepest nesting, at ${report.deepest.place}`),
    row(failures.length, failures.length === 1 ? 'file did not parse' : 'files did not parse'),
    ...failures.slice(0, TOP).map(({ file, message }) => `${' '.repeat(14)}${file}: ${message}`),
    ...(failures.length > TOP
      ? [`${' '.repeat(14)}and ${failures.length - TOP} more (--json lists all)`]
      : []),
    '',
    'Most frequent kinds of syntax',
    ...kinds.slice(0, TOP).map(({ kind, count }) => row(count, kind)),
    '',
    'Most repeated function shapes',
    ...shapes.map(({ count, nodes, place }) => row(count, `times ${nodes} nodes, first at ${place}`)),
  ];
  return lines.join('\n');
}
