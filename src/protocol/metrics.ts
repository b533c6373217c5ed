// Fine performance metrics: a worker's time and bytes, as sums under keys. A key names the activity, the tasks and
// the span. The names are Dask's.

/** Name under which prefixes, spans and functions beyond a limit are summed, so that totals stay exact. */
export const OTHERS = '(others)';

/**
 * `["execute", spanId, prefix, activity, unit]` on a worker, `["execute", prefix, activity, unit]` on the scheduler and on
 * spans, and `[context, activity, unit]` for the other contexts on both. Work of the store that a task caused is
 * `[context, spanId, prefix, activity, unit]` on a worker. Units are `seconds`, `bytes`, `count`, or named by the user.
 */
export type MetricKey = readonly string[];

/** Additions to some metrics since the last report: `values[i]` belongs to `keys[i]`. */
export interface MetricChanges {
  readonly keys: readonly MetricKey[];
  readonly values: readonly number[];
}

/**
 * Context of the waits for shared objects. Activities are `wait for Lock 'x'`, with the prefix of the tasks that waited, and for
 * locks and semaphores also `contended Lock 'x'`: the seconds in which at least one task waited.
 */
export const SHARED_CONTEXT = 'shared';
export const WAIT_FOR = 'wait for ';
export const CONTENDED = 'contended ';

/**
 * Context of tasks that no worker had, and that will not run. Activities are `skipped`, because another task
 * failed, and `cancelled`; the unit is `count`. A value is negative if such tasks run after all.
 */
export const DROPPED_CONTEXT = 'dropped';
export const SKIPPED = 'skipped';
export const CANCELLED = 'cancelled';

/** Context of the imports of modules by workers of local schedulers, which have no other metrics of their tasks. */
export const IMPORT_CONTEXT = 'import';

/** The tags of work outside any span. */
export const DEFAULT_SPAN: readonly string[] = ['default'];

/** Returns a span's tags as one text: joined with `/`; a `/` in a tag is `%2F`, a `%` is `%25`. */
export function spanId(tags: readonly string[]): string {
  return tags.map((tag) => tag.replaceAll('%', '%25').replaceAll('/', '%2F')).join('/');
}

export function spanTags(id: string): string[] {
  return id.split('/').map((tag) => tag.replaceAll('%2F', '/').replaceAll('%25', '%'));
}
