// Makes the table from measurements: medians, and ratios within one repetition.
import type { Measurement } from './engine.js';
import { median } from './median.js';
import type { Row } from './rows.js';

/** Row id → one measurement per repetition. */
export type Measurements = ReadonlyMap<string, readonly Measurement[]>;

export interface TableRow {
  readonly id: string;
  readonly kind: Row['kind'];
  readonly against: string;
  readonly label: string;
  readonly tasks: number;
  readonly unit: Row['unit'];
  readonly median: number;
  readonly low: number;
  readonly high: number;
  /** Median over the repetitions of the ratio to Longpole's row. Undefined for Longpole's rows. */
  readonly timesOurs: number | undefined;
  readonly target: number | undefined;
  readonly met: boolean | undefined;
}

/** Returns a measurement in the row's unit: µs per task, or the ratio to the reference run. */
function quantity(row: Row, { seconds, tasks, baseSeconds }: Measurement): number {
  return row.unit === 'times off' ? seconds / (baseSeconds ?? Number.NaN) : (seconds / tasks) * 1e6;
}

export function makeTable(rows: readonly Row[], measurements: Measurements): TableRow[] {
  return rows.map((row) => {
    const own = measurements.get(row.id) ?? [];
    const values = own.map((measurement) => quantity(row, measurement));
    const ours = measurements.get(row.against) ?? [];
    const ratios = values.flatMap((value, i) => {
      const other = ours[i];
      return other === undefined || row.unit === 'times off' ? [] : [value / quantity(row, other)];
    });
    const middle = median(values);
    return {
      id: row.id,
      kind: row.kind,
      against: row.against,
      label: row.label,
      tasks: own[0]?.tasks ?? 0,
      unit: row.unit,
      median: middle,
      low: Math.min(...values),
      high: Math.max(...values),
      timesOurs: row.kind === 'own' || ratios.length === 0 ? undefined : median(ratios),
      target: row.target,
      met: row.target === undefined ? undefined : middle <= row.target,
    };
  });
}

/** Returns the table for the project's README: Longpole's rows, Dask's with the same work, and the fastest pool. */
export function formatSummary(table: readonly TableRow[]): string {
  const best = (ours: TableRow, kind: Row['kind']): string => {
    const peers = table.filter((row) => row.kind === kind && row.against === ours.id);
    const first = peers.sort((a, b) => a.median - b.median)[0];
    if (first === undefined) return '';
    return kind === 'pool'
      ? `${digits(first.median)} (${first.label.replace(/, .*|^chain, /g, '')})`
      : digits(first.median);
  };
  const own = table.filter((row) => row.kind === 'own' && row.unit === 'µs per task');
  return formatCells([
    ['', 'Longpole', 'Dask', 'fastest worker pool'],
    ...own.map((row) => [row.label, digits(row.median), best(row, 'dask'), best(row, 'pool')]),
  ]);
}

/** Returns the whole table as Markdown, for the terminal and bench/README.md. */
export function formatTable(table: readonly TableRow[]): string {
  return formatCells([
    ['engine', 'tasks', 'median', 'lowest to highest', 'unit', 'times ours', 'target', 'met'],
    ...table.map((row) => [
      row.label,
      row.tasks.toLocaleString('en'),
      digits(row.median),
      `${digits(row.low)} to ${digits(row.high)}`,
      row.unit,
      row.timesOurs === undefined ? '' : digits(row.timesOurs),
      row.target === undefined ? '' : `≤ ${row.target}`,
      row.met === undefined ? '' : row.met ? 'yes' : `no, ${digits(row.median / (row.target ?? 1))} times`,
    ]),
  ]);
}

function formatCells(cells: readonly (readonly string[])[]): string {
  const widths =
    cells[0]?.map((_, column) => Math.max(...cells.map((line) => line[column]?.length ?? 0))) ?? [];
  const lines = cells.map(
    (line) => `| ${line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`,
  );
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  return [lines[0], rule, ...lines.slice(1)].join('\n');
}

function digits(value: number): string {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}
