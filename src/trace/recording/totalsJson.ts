// Totals of a trace as JSON. A report and a live page need them because they may contain only a part of the rows.
import { fieldOf, numberIn, textIn } from '../../base/json.js';
import { recordOf } from '../../base/lookUps.js';
import { ACTIONS } from '../../protocol/clusterObserver.js';
import { DURATION_BUCKETS, type PrefixTotals, type TraceTotals } from '../totals.js';

/** Sums of a prefix. null is a number that JSON lacks. */
export interface PrefixJson extends Record<'count' | 'erred' | 'seconds' | 'nbytes', number> {
  readonly prefix: string;
  readonly shortest: number | null;
  readonly longest: number | null;
  /** Bucket of durations → number of runs, without empty buckets. Empty during a run. */
  readonly durations: readonly (readonly [bucket: number, runs: number])[];
}

/** Converts totals to JSON, by default with all prefixes and metrics. Numbers that JSON lacks become null. */
export function totalsToJson(
  totals: TraceTotals,
  prefixes = prefixesToJson(totals.prefixes.values()),
  metrics = totals.metrics,
): object {
  return {
    states: [...totals.states],
    prefixes,
    actions: totals.actions,
    busy: [...totals.busy],
    pairs: totals.pairs,
    metrics,
    spilled: totals.spilled,
    start: totals.start,
    offered: totals.offered,
  };
}

export function prefixesToJson(prefixes: Iterable<PrefixTotals>): PrefixJson[] {
  return Array.from(prefixes, (sums) => prefixToJson(sums, durationsToJson(sums.durations)));
}

/**
 * Lists the fields, because a server makes hundreds of these objects repeatedly and a spread takes several times as
 * long.
 */
export function prefixToJson(sums: PrefixTotals, durations: PrefixJson['durations']): PrefixJson {
  const known = (seconds: number): number | null => (Number.isFinite(seconds) ? seconds : null);
  return {
    prefix: sums.prefix,
    count: sums.count,
    erred: sums.erred,
    seconds: sums.seconds,
    nbytes: sums.nbytes,
    shortest: known(sums.shortest),
    longest: known(sums.longest),
    durations,
  };
}

function durationsToJson(durations: Float64Array): PrefixJson['durations'] {
  return [...durations.entries()].filter(([, runs]) => runs > 0);
}

/** Parses the result of `totalsToJson`; undefined if it is invalid. */
export function totalsFromJson(value: unknown): TraceTotals | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const list = (name: string): unknown[] => {
    const found = fieldOf(value, name);
    return Array.isArray(found) ? found : [];
  };
  const prefixes = list('prefixes').map(prefixTotals);
  return {
    states: Float64Array.from(list('states'), numberOf),
    prefixes: new Map(prefixes.map((one) => [one.prefix, one])),
    actions: list('actions').flatMap((one) => {
      const action = ACTIONS.find((name) => name === textIn(one, 'action'));
      if (action === undefined) return [];
      return [{ action, ...numbersIn(one, 'count', 'seconds', 'nbytes') }];
    }),
    busy: Float64Array.from(list('busy'), numberOf),
    pairs: list('pairs').map((one) =>
      numbersIn(one, 'from', 'to', 'count', 'nbytes', 'compressed', 'seconds'),
    ),
    metrics: list('metrics').map((one) => ({
      ...recordOf(['context', 'span', 'prefix', 'activity', 'unit'], (name) => textIn(one, name)),
      ...numbersIn(one, 'value'),
    })),
    ...numbersIn(value, 'spilled', 'start', 'offered'),
  };
}

function prefixTotals(value: unknown): PrefixTotals {
  const durations = new Float64Array(DURATION_BUCKETS);
  const entries = fieldOf(value, 'durations');
  for (const entry of Array.isArray(entries) ? entries : []) {
    if (Array.isArray(entry) && entry[0] >= 0 && entry[0] < DURATION_BUCKETS)
      durations[entry[0]] = numberOf(entry[1]);
  }
  return {
    prefix: textIn(value, 'prefix'),
    ...numbersIn(value, 'count', 'erred', 'seconds', 'nbytes', 'shortest', 'longest'),
    durations,
  };
}

function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : Number.NaN;
}

function numbersIn<K extends string>(value: unknown, ...names: readonly K[]): Record<K, number> {
  return recordOf(names, (name) => numberIn(value, name));
}
