// Tables of rows with columns, and tables of the results of analyses.
import type { ComponentChildren, HTMLAttributes } from 'preact';
import { useState } from 'preact/hooks';
import type { Cell, Table } from '../../analysis/table.js';
import { countText } from '../../base/words.js';
import { formatBytes, formatCount, formatDuration, formatNumber, formatPercent } from '../model/format.js';
import { Button, Empty } from './parts.js';

export interface Column<Row> {
  readonly title: string;
  /** Class of the cells. The class `number`, which aligns cells to the right, applies to the title, too. */
  readonly class?: string | undefined;
  readonly cell: (row: Row) => ComponentChildren;
  readonly hint?: (row: Row) => string | undefined;
  /** Cell of the last row, which is about all rows. */
  readonly all?: ComponentChildren | undefined;
}

interface Props<Row> {
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  /** Caption for screen readers, for tables without a heading. */
  readonly caption?: string;
  /** Returns the identity of a row whose position may change. Default: the position. */
  readonly keyOf?: (row: Row) => string | number;
  readonly attributes?: (row: Row) => HTMLAttributes<HTMLTableRowElement>;
}

/** A table that scrolls sideways if it is too wide. */
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

/** Rows that a table shows at first, and rows that the button adds. */
const FIRST_ROWS = 50;
const MORE_ROWS = 500;
/** Unit at the end of a title. A column with a unit has numbers, or none is known. */
const UNIT = / \((s|MB|MB\/s|%)\)$/;

interface TableProps {
  /** Undefined before there is a result. */
  readonly table: Table | undefined;
  readonly caption: string;
  /** Titles of the visible columns. Default: all. */
  readonly columns?: readonly string[];
  /** Titles of the columns whose sum over all rows, including hidden rows, stands in the last row. */
  readonly sums?: readonly string[];
}

/** The result of an analysis, formatted in the units of its titles. */
export function TableView({ table, caption, columns, sums = [] }: TableProps) {
  const [shown, setShown] = useState(FIRST_ROWS);
  if (table === undefined) return null;
  const head = table.head(shown).rows;
  if (table.length === 0) return <Empty>The trace has no data for this table.</Empty>;
  const sumOf = (title: string): number | null =>
    table.rows.reduce((sum: number | null, { [title]: cell }) => {
      return typeof cell === 'number' ? (sum ?? 0) + cell : sum;
    }, null);
  const hasSums = table.length > 1;
  return (
    <div class="table-scroll">
      <BareTable
        caption={caption}
        rows={head}
        columns={(columns ?? table.columns).map(
          (title): Column<(typeof head)[number]> => ({
            title: title.replace(UNIT, ''),
            class:
              UNIT.test(title) || head.some((row) => typeof row[title] === 'number') ? 'number' : undefined,
            cell: (row) => cellText(title, row[title] ?? null),
            ...(hasSums && sums.includes(title) ? { all: cellText(title, sumOf(title)) } : {}),
          }),
        )}
      />
      {table.length > shown ? (
        <Button
          text={countText(table.length - shown, 'more row')}
          class="more"
          onClick={() => setShown(shown + MORE_ROWS)}
        />
      ) : null}
    </div>
  );
}

function cellText(title: string, cell: Cell): string {
  if (cell === null) return '–';
  if (typeof cell === 'string') return cell;
  if (title.endsWith('(s)')) return formatDuration(cell);
  if (title.endsWith('(MB)')) return formatBytes(cell * 1e6);
  if (title.endsWith('(MB/s)')) return `${formatBytes(cell * 1e6)}/s`;
  if (title.endsWith('(%)')) return formatPercent(cell);
  return Number.isInteger(cell) ? formatCount(cell) : formatNumber(cell);
}
