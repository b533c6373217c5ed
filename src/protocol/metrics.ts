// Fine performance metrics: what a worker did with its time and its bytes, as sums under keys that say doing what, on
// which tasks, for whom. The names are Dask's.

/** The name under which prefixes, spans and functions beyond a limit are summed, so that sums stay whole. */
export const OTHERS = '(others)';

/**
 * `["execute", spanId, prefix, activity, unit]` on a worker, `["execute", prefix, activity, unit]` on the scheduler and on
 * spans, and `[context, activity, unit]` for the other contexts on both. Units are `seconds`, `bytes`, `count`, or what a user named.
 */
export type MetricKey = readonly string[];

/** What has been added to some metrics since the last time: `values[i]` belongs to `keys[i]`. */
export interface MetricChanges {
  readonly keys: readonly MetricKey[];
  readonly values: Float64Array;
}

/** The tags of work outside any span. */
export const DEFAULT_SPAN: readonly string[] = ['default'];

/** A span's tags as one text: joined with `/`; a `/` in a tag is `%2F`, a `%` is `%25`. */
export function spanId(tags: readonly string[]): string {
  return tags.map((tag) => tag.replaceAll('%', '%25').replaceAll('/', '%2F')).join('/');
}

/** The tags of a span's id. */
export function spanTags(id: string): string[] {
  return id.split('/').map((tag) => tag.replaceAll('%2F', '/').replaceAll('%25', '%'));
}
