// Encodes and decodes the data of a diff page: JSON that the command line writes and that the browser reads and checks.
import { LongpoleError } from '../../base/errors.js';
import { fieldOf, parsedJson } from '../../base/json.js';
import { recordOf } from '../../base/recordOf.js';
import type { StackDiff } from '../../profile/stackDiff.js';
import type { Diff, DiffRow } from './diff.js';

/** A row of the comparison. Numbers that JSON cannot represent are null, e.g. the ratio of a new row. */
export interface DiffPageRow {
  readonly kind: string;
  readonly name: string;
  readonly verdict: string;
  readonly before: number;
  readonly after: number;
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
  const { before, after, failed, reason, rows, more, stacks } = fields(
    parsedJson(new TextDecoder().decode(bytes)),
  );
  if (typeof before !== 'string' || typeof after !== 'string' || typeof reason !== 'string') throw damaged();
  if (typeof failed !== 'boolean' || typeof more !== 'number' || !Array.isArray(rows)) throw damaged();
  return {
    ...{ before, after, failed, reason, more },
    rows: rows.map(checkedRow),
    stacks: stacks === null ? null : checkedPlace(stacks, 0),
  };
}

type Fields = Readonly<Record<string, unknown>>;

function fields(value: unknown): Fields {
  if (typeof value !== 'object' || value === null) throw damaged();
  return Object.fromEntries(Object.entries(value));
}

function checkedRow(value: unknown): DiffPageRow {
  const { kind, name, verdict, before, after, ratio, p } = fields(value);
  if (typeof kind !== 'string' || typeof name !== 'string' || typeof verdict !== 'string') throw damaged();
  return {
    ...{ kind, name, verdict },
    before: seconds(before),
    after: seconds(after),
    ratio: ratio === null ? null : seconds(ratio),
    p: p === null ? null : seconds(p),
  };
}

const PLACE_NUMBERS = ['lineNumber', 'before', 'after', 'selfBefore', 'selfAfter'] as const;

function checkedPlace(value: unknown, depth: number): StackDiff {
  const { name, filename, children } = fields(value);
  if (typeof name !== 'string' || typeof filename !== 'string' || !Array.isArray(children)) throw damaged();
  if (depth > MAX_DEPTH) throw damaged();
  return {
    ...{ name, filename },
    ...recordOf(PLACE_NUMBERS, (number) => seconds(fieldOf(value, number))),
    children: children.map((child) => checkedPlace(child, depth + 1)),
  };
}

function seconds(value: unknown): number {
  if (typeof value !== 'number' || !Number.isFinite(value)) throw damaged();
  return value;
}

function damaged(): LongpoleError {
  return new LongpoleError(
    'ERR_LONGPOLE_PAGE_DATA',
    'The data of the page is damaged: the file was cut off or changed. Write the page again, or copy the whole file again.',
  );
}
