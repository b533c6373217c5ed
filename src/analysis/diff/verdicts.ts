// What is said of each row of a comparison: slower, faster, or no more than noise does, corrected for how many rows there are.
import { adjusted } from '../statistics.js';

/**
 * `run`: the makespan, and the work of all tasks together. `path`: a kind of part of the critical path. `function`: own code
 * inside tasks, where the profiler looked at all runs.
 */
export type DiffKind = 'run' | 'prefix' | 'span' | 'activity' | 'path' | 'function';

/** `unclear`: there is too little to tell a difference from noise. */
export type Verdict = 'slower' | 'faster' | 'noise' | 'unclear' | 'new' | 'gone';

export interface DiffRow {
  readonly kind: DiffKind;
  readonly name: string;
  /** Seconds per run, before and after. */
  readonly before: number;
  readonly after: number;
  /** after − before. */
  readonly change: number;
  /** after by before; Infinity for what is new. */
  readonly ratio: number;
  /** The ratio lies in between at 95 %; NaN where nothing tells. */
  readonly low: number;
  readonly high: number;
  /** How likely noise alone differs as much, corrected for the number of rows; NaN where nothing tells. */
  readonly p: number;
  readonly verdict: Verdict;
}

/** A row before it is judged. */
export type Draft = Omit<DiffRow, 'verdict' | 'ratio' | 'change'> & {
  readonly isSingle: boolean;
  /** The smallest p that a test of so many runs can give. */
  readonly reach: number;
  /** Where runs differ clearly, each from each: how likely noise alone is by the stretches of tasks inside them; NaN: too few. */
  readonly within?: () => number;
};

/** Two single runs of the same program differ by this much for no reason. */
export const SINGLE_RUN_NOISE = 0.05;
/** The false discoveries among rows that are called slower or faster. */
const FALSE_DISCOVERIES = 0.1;
/** The correction for many rows rounds: 0.1 × 3 / 3 is more than 0.1. */
const LIMIT = FALSE_DISCOVERIES * (1 + 1e-9);

/** Rows with their verdicts, in the order of the drafts. */
export function judged(drafts: readonly Draft[]): DiffRow[] {
  const byRuns = corrected(drafts, ({ p }) => p);
  const rows = [...byRuns.keys()];
  // Three runs and three reach one in ten: among several rows, none alone could ever be more than noise.
  const beyond = new Set(
    rows.filter(
      (draft) =>
        !draft.isSingle &&
        draft.p <= LIMIT &&
        (byRuns.get(draft) ?? 1) > LIMIT &&
        draft.reach * rows.length > LIMIT,
    ),
  );
  const byStretches =
    beyond.size === 0
      ? byRuns
      : corrected(drafts, (draft) => (beyond.has(draft) ? orNothing(draft.within?.()) : draft.p));
  return drafts.map((draft) => {
    const { isSingle, reach, within, ...row } = draft;
    const isClear = (byStretches.get(draft) ?? 1) <= LIMIT;
    const p = (isClear ? byStretches : byRuns).get(draft) ?? row.p;
    const ratio =
      row.before === 0 ? (row.after === 0 ? 1 : Number.POSITIVE_INFINITY) : row.after / row.before;
    const judgedRow = { ...row, p, ratio, change: row.after - row.before };
    const isUnclear = beyond.has(draft) && !isClear;
    return { ...judgedRow, verdict: verdictOf(judgedRow, isSingle, isUnclear) };
  });
}

/** Corrected for the number of rows; those of the run as a whole, and those without a p, are left out. */
function corrected(drafts: readonly Draft[], pOf: (draft: Draft) => number): Map<Draft, number> {
  const tested = drafts.filter(({ p, kind }) => !Number.isNaN(p) && kind !== 'run');
  const values = adjusted(tested.map(pOf));
  return new Map(tested.map((draft, i) => [draft, values[i] ?? 1]));
}

function orNothing(p: number | undefined): number {
  return p === undefined || Number.isNaN(p) ? 1 : p;
}

function verdictOf(
  { kind, before, after, ratio, p }: Omit<DiffRow, 'verdict'>,
  isSingle: boolean,
  isUnclear: boolean,
): Verdict {
  if (before === after) return 'noise';
  // A function that a few samples happened to meet is not new.
  if (kind === 'function' && p > LIMIT) return isUnclear ? 'unclear' : 'noise';
  if (before === 0) return 'new';
  if (after === 0) return 'gone';
  if (isSingle && Math.abs(ratio - 1) <= SINGLE_RUN_NOISE) return 'noise';
  const isLarge = kind === 'run' && Math.abs(ratio - 1) > 2 * SINGLE_RUN_NOISE;
  if (isUnclear || (Number.isNaN(p) && !isLarge)) return 'unclear';
  if (p > LIMIT) return 'noise';
  return ratio > 1 ? 'slower' : 'faster';
}
