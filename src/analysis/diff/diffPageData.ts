// Encodes and decodes the data of a diff page: JSON that the command line writes and that the browser reads and checks.
import { LongpoleError } from '../../base/errors.js';
import { fieldOf, hasFields, parsedJson } from '../../base/json.js';
import type { StackDiff } from '../../profile/stackDiff.js';
import type { Diff, DiffRow } from './diff.js';

/** A row of the comparison. Numbers that JSON cannot represent are null, e.g. the ratio of a new row. */
export interface DiffPageRow extends Pick<DiffRow, 'name' | 'before' | 'after'> {
  readonly kind: string;
  readonly verdict: string;
  /** Ratio after / before. */
  readonly ratio: number | null;
  readonly p: number | null;
}

export interface DiffPageData {
  /** Names of the two sides. */
  readonly before: string;
  readonly after: string;
  readonly failed: boolean;
  readonly reason: string;
  readonly rows: readonly DiffPageRow[];
  readonly more: number;
  /** Call tree; null unless all runs have samples. */
  readonly stacks: StackDiff | null;
}

const MAX_ROWS = 100;
/** Largest depth of a call tree, deeper than any stack that V8 samples. */
const MAX_DEPTH = 1000;

export function encodeDiffPage(
  { rows, failed, reason, stacks }: Diff,
  names: { readonly before: string; readonly after: string },
): Uint8Array {
  const data: DiffPageData = {
    ...names,
    failed,
    reason,
    rows: rows.slice(0, MAX_ROWS).map(pageRow),
    more: Math.max(0, rows.length - MAX_ROWS),
    stacks: stacks ?? null,
  };
  return new TextEncoder().encode(JSON.stringify(data));
}

function pageRow({ kind, name, verdict, before, after, ratio, p }: DiffRow): DiffPageRow {
  const known = (value: number) => (Number.isFinite(value) ? value : null);
  return { kind, name, verdict, before, after, ratio: known(ratio), p: known(p) };
}

/** @throws LongpoleError ERR_LONGPOLE_PAGE_DATA if the bytes are not the output of `encodeDiffPage` */
export function decodeDiffPage(bytes: Uint8Array): DiffPageData {
  const data = parsedJson(new TextDecoder().decode(bytes));
  if (isPage(data)) return data;
  throw new LongpoleError(
    'ERR_LONGPOLE_PAGE_DATA',
    'The data of the page is damaged: the file was cut off or changed. Write the page again, or copy the whole file again.',
  );
}

function isPage(value: unknown): value is DiffPageData {
  if (!hasFields(value, { before: 'string', after: 'string', reason: 'string', more: 'number' }))
    return false;
  const [rows, stacks] = [fieldOf(value, 'rows'), fieldOf(value, 'stacks')];
  return (
    typeof fieldOf(value, 'failed') === 'boolean' &&
    Array.isArray(rows) &&
    rows.every(isRow) &&
    (stacks === null || isPlace(stacks, 0))
  );
}

function isRow(value: unknown): boolean {
  const facts = {
    kind: 'string',
    name: 'string',
    verdict: 'string',
    before: 'number',
    after: 'number',
  } as const;
  const optional = [fieldOf(value, 'ratio'), fieldOf(value, 'p')];
  return hasFields(value, facts) && optional.every((one) => one === null || typeof one === 'number');
}

const PLACE_NUMBERS = ['lineNumber', 'before', 'after', 'selfBefore', 'selfAfter'] as const;

function isPlace(value: unknown, depth: number): boolean {
  const children = fieldOf(value, 'children');
  return (
    depth <= MAX_DEPTH &&
    hasFields(value, { name: 'string', filename: 'string' }) &&
    PLACE_NUMBERS.every((name) => typeof fieldOf(value, name) === 'number') &&
    Array.isArray(children) &&
    children.every((child) => isPlace(child, depth + 1))
  );
}
