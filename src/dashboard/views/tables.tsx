// Tables: rows of anything with columns that say what stands in them, and the result of an analysis.
import type { ComponentChildren, HTMLAttributes } from 'preact';
import { useState } from 'preact/hooks';
import type { Cell, Table } from '../../analysis/table.js';
import { formatBytes, formatCount, formatDuration, formatNumber, formatPercent } from '../model/format.js';

export interface Column<Row> {
  readonly title: string;
  /** Of the cells. `number`, which is on the right, is also that of the title. */
  readonly class?: string | undefined;
  readonly cell: (row: Row) => ComponentChildren;
  /** What a cell says to the pointer. */
  readonly hint?: (row: Row) => string | undefined;
  /** In the last row, which is about all rows. */
  readonly all?: ComponentChildren | undefined;
}

interface Props<Row> {
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  /** For screen readers, where no heading says it. */
  readonly caption?: string;
  /** What stays the same row when rows move. Default: its place. */
  readonly keyOf?: (row: Row) => string | number;
  readonly attributes?: (row: Row) => HTMLAttributes<HTMLTableRowElement>;
}

/** A table that scrolls sideways where it is wider than its place. */
export function RowTable<Row>(props: Props<Row>) {
  return (
    <div class="table-scroll">
      <BareTable {...props} />
    </div>
  );
}

export function BareTable<Row>({ rows, columns, caption, keyOf, attributes }: Props<Row>) {
  const last = columns.some(({ all }) => all !== undefined) ? columns.slice(1) : [];
  return (
    <table>
      {caption === undefined ? null : <caption class="hidden">{caption}</caption>}
      <thead>
        <tr>
          {columns.map(({ title, class: name }, i) => (
            <th key={i} scope="col" class={name === 'number' ? name : undefined}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, i) => (
          <tr key={keyOf?.(row) ?? i} {...attributes?.(row)}>
            {columns.map(({ class: name, cell, hint }, column) => (
              <td key={column} class={name} title={hint?.(row)}>
                {cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
      {last.length === 0 ? null : (
        <tfoot>
          <tr>
            <th scope="row">All</th>
            {last.map(({ all }, i) => (
              <td key={i} class="number">
                {all}
              </td>
            ))}
          </tr>
        </tfoot>
      )}
    </table>
  );
}

/** Rows that a table shows before somebody asks for more. */
const FIRST_ROWS = 50;
const MORE_ROWS = 500;

interface TableProps {
  readonly table: Table;
  readonly caption: string;
  /** Titles of the columns that are shown. Default: all. */
  readonly columns?: readonly string[];
  /** Titles of the columns that have their sum in a last row: over all rows, also over those that are not shown. */
  readonly sums?: readonly string[];
}

/** The result of an analysis, with the units of its titles; undefined: it is not there yet. */
export function TableView({
  table,
  ...props
}: Omit<TableProps, 'table'> & { readonly table: Table | undefined }) {
  return table === undefined ? null : <KnownTable table={table} {...props} />;
}

function KnownTable({ table, caption, columns = table.columns, sums = [] }: TableProps) {
  const [shown, setShown] = useState(FIRST_ROWS);
  const head = table.head(shown).rows;
  const sumOf = (title: string): number =>
    table.rows.reduce((sum, row) => sum + (typeof row[title] === 'number' ? row[title] : 0), 0);
  const hasSums = table.length > 1;
  return (
    <div class="table-scroll">
      <BareTable
        caption={caption}
        rows={head}
        columns={columns.map(
          (title): Column<(typeof head)[number]> => ({
            title: title.replace(/ \((s|MB|MB\/s|%)\)$/, ''),
            class: head.some((row) => typeof row[title] === 'number') ? 'number' : undefined,
            cell: (row) => cellText(title, row[title] ?? null),
            ...(hasSums && sums.includes(title) ? { all: cellText(title, sumOf(title)) } : {}),
          }),
        )}
      />
      {table.length > shown ? (
        <button type="button" class="more" onClick={() => setShown(shown + MORE_ROWS)}>
          {formatCount(table.length - shown)} more rows
        </button>
      ) : null}
    </div>
  );
}

/** A cell with the unit that its title names. */
function cellText(title: string, cell: Cell): string {
  if (cell === null) return '–';
  if (typeof cell === 'string') return cell;
  if (title.endsWith('(s)')) return formatDuration(cell);
  if (title.endsWith('(MB)')) return formatBytes(cell * 1e6);
  if (title.endsWith('(MB/s)')) return `${formatBytes(cell * 1e6)}/s`;
  if (title.endsWith('(%)')) return formatPercent(cell);
  return Number.isInteger(cell) ? formatCount(cell) : formatNumber(cell);
}
