// Totals of a trace as JSON. A report needs them because it may contain only a part of the rows.
import { ACTIONS } from '../../protocol/clusterObserver.js';
import type { PrefixSum } from '../../protocol/viewRows.js';
import { DURATION_BUCKETS, type PrefixTotals, type TraceTotals } from '../totals.js';

/** Converts totals to JSON. Numbers that JSON lacks become null. */
export function totalsToJson(totals: TraceTotals): unknown {
  return {
    states: [...totals.states],
    prefixes: prefixesToJson(totals.prefixes.values()),
    actions: totals.actions,
    busy: [...totals.busy],
    pairs: totals.pairs,
    metrics: totals.metrics,
    spilled: totals.spilled,
    start: totals.start,
    offered: totals.offered,
  };
}

/** Converts the sums by prefix to JSON. */
export function prefixesToJson(prefixes: Iterable<PrefixTotals>): PrefixSum[] {
  return Array.from(prefixes, (sums) => prefixToJson(sums, durationsToJson(sums.durations)));
}

/**
 * Lists the fields, because a server makes hundreds of these objects repeatedly and a spread takes several times as
 * long.
 */
export function prefixToJson(sums: PrefixTotals, durations: PrefixSum['durations']): PrefixSum {
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

function durationsToJson(durations: Float64Array): PrefixSum['durations'] {
  return [...durations.entries()].filter(([, runs]) => runs > 0);
}

/** Parses the result of `totalsToJson`; undefined if it is invalid. */
export function totalsFromJson(value: unknown): TraceTotals | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const list = (name: string): unknown[] => {
    const found: unknown = Reflect.get(value, name);
    return Array.isArray(found) ? found : [];
  };
  const prefixes = list('prefixes').map(prefixTotals);
  return {
    states: Float64Array.from(list('states'), numberOf),
    prefixes: new Map(prefixes.map((one) => [one.prefix, one])),
    actions: list('actions').flatMap((one) => {
      const action = ACTIONS.find((name) => name === textIn(one, 'action'));
      if (action === undefined) return [];
      return [
        {
          action,
          count: numberIn(one, 'count'),
          seconds: numberIn(one, 'seconds'),
          nbytes: numberIn(one, 'nbytes'),
        },
      ];
    }),
    busy: Float64Array.from(list('busy'), numberOf),
    pairs: list('pairs').map((one) => ({
      from: numberIn(one, 'from'),
      to: numberIn(one, 'to'),
      count: numberIn(one, 'count'),
      nbytes: numberIn(one, 'nbytes'),
      compressed: numberIn(one, 'compressed'),
      seconds: numberIn(one, 'seconds'),
    })),
    metrics: list('metrics').map((one) => ({
      context: textIn(one, 'context'),
      span: textIn(one, 'span'),
      prefix: textIn(one, 'prefix'),
      activity: textIn(one, 'activity'),
      unit: textIn(one, 'unit'),
      value: numberIn(one, 'value'),
    })),
    spilled: numberIn(value, 'spilled'),
    start: numberIn(value, 'start'),
    offered: numberIn(value, 'offered'),
  };
}

function prefixTotals(value: unknown): PrefixTotals {
  const durations = new Float64Array(DURATION_BUCKETS);
  const entries: unknown = fieldOf(value, 'durations');
  for (const entry of Array.isArray(entries) ? entries : []) {
    if (Array.isArray(entry) && entry[0] >= 0 && entry[0] < DURATION_BUCKETS)
      durations[entry[0]] = numberOf(entry[1]);
  }
  return {
    prefix: textIn(value, 'prefix'),
    count: numberIn(value, 'count'),
    erred: numberIn(value, 'erred'),
    seconds: numberIn(value, 'seconds'),
    nbytes: numberIn(value, 'nbytes'),
    shortest: numberIn(value, 'shortest'),
    longest: numberIn(value, 'longest'),
    durations,
  };
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : Number.NaN;
}

function numberIn(value: unknown, name: string): number {
  return numberOf(fieldOf(value, name));
}

function textIn(value: unknown, name: string): string {
  const text = fieldOf(value, name);
  return typeof text === 'string' ? text : '';
}
