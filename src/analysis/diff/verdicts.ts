// Decides for each row of a comparison whether it is slower, faster or noise, with a correction for multiple tests.
import { adjusted } from '../statistics.js';

/**
 * Kinds of rows. `run`: the makespan and the work of all tasks. `path`: a kind of part of the critical path.
 * `activity`: fine performance metrics, if all runs or none have them. `function`: own code of a function inside tasks, if all
 * runs have samples.
 */
export type DiffKind = 'run' | 'prefix' | 'span' | 'activity' | 'path' | 'function';

/** `unclear`: there are too few data to distinguish a change from noise. */
export type Verdict = 'slower' | 'faster' | 'noise' | 'unclear' | 'new' | 'gone';

export interface DiffRow {
  readonly kind: DiffKind;
  readonly name: string;
  /** Seconds per run before. */
  readonly before: number;
  /** Seconds per run after. */
  readonly after: number;
  /** Difference after − before, seconds. */
  readonly change: number;
  /** Ratio after / before; Infinity for a new row. */
  readonly ratio: number;
  /** Limits of the 95 % confidence interval of the ratio; NaN if there are too few data. */
  readonly low: number;
  readonly high: number;
  /** p-value, corrected for the number of rows; NaN if there are too few data. */
  readonly p: number;
  readonly verdict: Verdict;
}

export type Draft = Omit<DiffRow, 'verdict' | 'ratio' | 'change'> & {
  readonly isSingle: boolean;
  /** Smallest p-value that a test over this number of runs can give. */
  readonly reach: number;
  /** Returns the p-value of sections inside the runs, 1 if too few. Defined if all runs of one side are slower. */
  readonly within?: () => number;
};

/** Relative difference of two single runs of the same program. */
export const SINGLE_RUN_NOISE = 0.05;
/** Expected share of false verdicts among rows that are called slower or faster. */
const FALSE_DISCOVERIES = 0.1;
/** The same share with a tolerance for rounding: 0.1 × 3 / 3 is more than 0.1. */
const LIMIT = FALSE_DISCOVERIES * (1 + 1e-9);

export function judged(drafts: readonly Draft[]): DiffRow[] {
  const byRuns = corrected(drafts, ({ p }) => p);
  const rows = [...byRuns.keys()];
  // Three runs on each side reach p = 0.1. With several rows, the correction would then make every row noise.
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
      : corrected(drafts, (draft) => (beyond.has(draft) ? (draft.within?.() ?? 1) : draft.p));
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

/** Returns corrected p-values, without rows of the whole run and rows without a p-value. */
function corrected(drafts: readonly Draft[], pOf: (draft: Draft) => number): Map<Draft, number> {
  const tested = drafts.filter(({ p, kind }) => !Number.isNaN(p) && kind !== 'run');
  const values = adjusted(tested.map(pOf));
  return new Map(tested.map((draft, i) => [draft, values[i] ?? 1]));
}

function verdictOf(
  { kind, before, after, ratio, p }: Omit<DiffRow, 'verdict'>,
  isSingle: boolean,
  isUnclear: boolean,
): Verdict {
  if (before === after) return 'noise';
  // A function with a few samples on one side only is not new.
  if (kind === 'function' && p > LIMIT) return isUnclear ? 'unclear' : 'noise';
  if (before === 0) return 'new';
  if (after === 0) return 'gone';
  if (isSingle && Math.abs(ratio - 1) <= SINGLE_RUN_NOISE) return 'noise';
  const isLarge = kind === 'run' && Math.abs(ratio - 1) > 2 * SINGLE_RUN_NOISE;
  if (isUnclear || (Number.isNaN(p) && !isLarge)) return 'unclear';
  if (p > LIMIT) return 'noise';
  return ratio > 1 ? 'slower' : 'faster';
}
