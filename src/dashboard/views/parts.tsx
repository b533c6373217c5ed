// The pieces that pages are made of: panels, rows with bars, tables, and the sentence where there is nothing.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Cell, Table } from '../../analysis/table.js';
import { formatBytes, formatCount, formatDuration, formatNumber, formatPercent } from '../model/format.js';

interface PanelProps {
  readonly title: string;
  /** On the right of the title. */
  readonly note?: ComponentChildren;
  readonly wide?: boolean;
  readonly children: ComponentChildren;
}

export function Panel({ title, note, wide = false, children }: PanelProps) {
  return (
    <section class={wide ? 'panel wide' : 'panel'} aria-label={title}>
      <header>
        <h2>{title}</h2>
        {note === undefined ? null : (
          <span class="muted" title={typeof note === 'string' ? note : undefined}>
            {note}
          </span>
        )}
      </header>
      {children}
    </section>
  );
}

export function Empty({ children }: { readonly children: ComponentChildren }) {
  return <p class="empty-note">{children}</p>;
}

export interface BarPart {
  readonly name: string;
  readonly value: number;
  readonly color: string;
}

export interface BarRow {
  readonly name: string;
  /** What stands for the name where it is long. Default: the name. */
  readonly short?: string | undefined;
  readonly parts: readonly BarPart[];
  /** Right of the bar. */
  readonly label: string;
  /** A mark, e.g. a limit; in the unit of the parts. */
  readonly limit?: number | undefined;
  readonly onClick?: () => void;
}

/** Rows with bars that share one scale. */
export function Bars({ rows, largest }: { readonly rows: readonly BarRow[]; readonly largest?: number }) {
  const most =
    largest ??
    rows.reduce(
      (top, { parts, limit }) =>
        Math.max(
          top,
          limit ?? 0,
          parts.reduce((sum, { value }) => sum + Math.max(0, value), 0),
        ),
      0,
    );
  const width = (value: number) => `${most > 0 ? Math.max(0, Math.min(100, (100 * value) / most)) : 0}%`;
  return (
    <ul class="bars">
      {rows.map(({ name, short = name, parts, label, limit, onClick }) => (
        <li key={name}>
          {onClick === undefined ? (
            <span class="name" title={name}>
              {short}
            </span>
          ) : (
            <button type="button" class="name link" title={name} onClick={onClick}>
              {short}
            </button>
          )}
          <span
            class="track"
            role="img"
            aria-label={parts.map((part) => part.name).join(', ')}
            title={parts.map((part) => part.name).join(', ')}
          >
            {parts
              .filter(({ value }) => value > 0)
              .map((part) => (
                <i key={part.name} style={{ width: width(part.value), background: part.color }} />
              ))}
            {limit !== undefined && limit > 0 ? <b class="limit" style={{ left: width(limit) }} /> : null}
          </span>
          <span class="number">{label}</span>
        </li>
      ))}
    </ul>
  );
}

export function Key({ parts }: { readonly parts: readonly Pick<BarPart, 'name' | 'color'>[] }) {
  return (
    <p class="key-list">
      {parts.map(({ name, color }) => (
        <span key={name}>
          <i class="swatch" style={{ background: color }} />
          {name}
        </span>
      ))}
    </p>
  );
}

/** Rows that a table shows before somebody asks for more. */
const FIRST_ROWS = 50;
const MORE_ROWS = 500;

interface TableProps {
  readonly table: Table;
  readonly rows?: number;
  readonly caption: string;
  /** Titles of the columns that are shown. Default: all. */
  readonly columns?: readonly string[];
  /** Titles of the columns that have their sum in a last row. */
  readonly sums?: readonly string[];
}

/** The result of an analysis, with the units of its titles. */
export function TableView({ table, rows = FIRST_ROWS, caption, columns, sums }: TableProps) {
  const [shown, setShown] = useState(rows);
  const head = table.head(shown).rows;
  const titles = columns ?? table.columns;
  const numeric = titles.map((title) => head.some((row) => typeof row[title] === 'number'));
  return (
    <div class="table-scroll">
      <table>
        <caption class="hidden">{caption}</caption>
        <thead>
          <tr>
            {titles.map((title, i) => (
              <th key={title} scope="col" class={numeric[i] === true ? 'number' : undefined}>
                {title.replace(/ \((s|MB|MB\/s|%)\)$/, '')}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {head.map((row, at) => (
            <tr key={at}>
              {titles.map((title, i) => (
                <td key={title} class={numeric[i] === true ? 'number' : undefined}>
                  {cellText(title, row[title] ?? null)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
        {sums === undefined || table.length < 2 ? null : <Sums table={table} titles={titles} sums={sums} />}
      </table>
      {table.length > shown ? (
        <button type="button" class="more" onClick={() => setShown(shown + MORE_ROWS)}>
          {formatCount(table.length - shown)} more rows
        </button>
      ) : null}
    </div>
  );
}

interface SumsProps {
  readonly table: Table;
  readonly titles: readonly string[];
  readonly sums: readonly string[];
}

/** The last row: sums over all rows, also over those that are not shown. */
function Sums({ table, titles, sums }: SumsProps) {
  const sumOf = (title: string): number =>
    table.rows.reduce((sum, row) => sum + (typeof row[title] === 'number' ? row[title] : 0), 0);
  return (
    <tfoot>
      <tr>
        {titles.map((title, i) =>
          i === 0 ? (
            <th key={title} scope="row">
              All
            </th>
          ) : (
            <td key={title} class="number">
              {sums.includes(title) ? cellText(title, sumOf(title)) : ''}
            </td>
          ),
        )}
      </tr>
    </tfoot>
  );
}

/** A cell with the unit that its title names. */
export function cellText(title: string, cell: Cell): string {
  if (cell === null) return '–';
  if (typeof cell === 'string') return cell;
  if (title.endsWith('(s)')) return formatDuration(cell);
  if (title.endsWith('(MB)')) return formatBytes(cell * 1e6);
  if (title.endsWith('(MB/s)')) return `${formatBytes(cell * 1e6)}/s`;
  if (title.endsWith('(%)')) return formatPercent(cell);
  return Number.isInteger(cell) ? formatCount(cell) : formatNumber(cell);
}
