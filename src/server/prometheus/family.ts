// A family (a term of Prometheus) is one metric name with its labels and samples. Families are declared as data;
// prometheus.ts makes the text.

import { shortened } from '../../base/visibleText.js';
import { OTHERS } from '../../protocol/metrics.js';
import type { LiveTotals, PrefixSums } from '../../trace/totals.js';
import type { ClusterFigures } from './figures.js';

export type Labels = Record<string, string>;
export type Sample = readonly [labels: Labels, value: number];
export type Read = (figures: ClusterFigures) => Iterable<Sample>;

/** A family whose name ends with `_total` is a counter, any other a gauge. */
export interface Family {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
  /** Reads the samples. Samples with equal labels are added up. A value that is not finite is unknown and left out. */
  readonly read: Read;
}

/** Largest number of prefixes in a scrape, which must stay small. The others are added up. */
const MAX_PREFIXES = 500;

/**
 * Returns the families of a table: name without `prefix` → help, and what `readOf` needs to read the samples with these
 * labels.
 */
export function families<V>(
  prefix: string,
  labels: readonly string[],
  readOf: (value: V) => Read,
  table: Readonly<Record<string, readonly [help: string, value: V]>>,
): Family[] {
  return Object.entries(table).map(([name, [help, value]]) => ({
    name: `${prefix}${name}`,
    help,
    labels,
    read: readOf(value),
  }));
}

/** Reads one sample without labels. */
export function single(value: (figures: ClusterFigures) => number): Read {
  return (figures) => [[{}, value(figures)]];
}

/** Returns a reader without a common form. */
export function read(samples: Read): Read {
  return samples;
}

/** Yields each row with its prefix, shortened for a label; the prefixes with the least weight share one name. */
export function* busiest<T>(
  rows: Iterable<T>,
  weight: (row: T) => number,
  name: (row: T) => string,
): Iterable<[T, string]> {
  const weights = new Map<string, number>();
  const all = [...rows];
  for (const row of all) weights.set(name(row), (weights.get(name(row)) ?? 0) + weight(row));
  const kept =
    weights.size <= MAX_PREFIXES
      ? weights
      : new Map([...weights].sort((a, b) => b[1] - a[1]).slice(0, MAX_PREFIXES));
  for (const row of all) yield [row, kept.has(name(row)) ? shortened(name(row)) : OTHERS];
}

/** Yields the sums of each prefix like `busiest`. */
export function busiestOf({ prefixes }: LiveTotals): Iterable<[PrefixSums, string]> {
  return busiest(
    prefixes.values(),
    ({ seconds }) => seconds,
    ({ prefix }) => prefix,
  );
}
