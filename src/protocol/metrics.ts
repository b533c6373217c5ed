// Fine performance metrics: a worker's time and bytes, as sums under keys. A key names the activity, the tasks and
// the span. The names are Dask's.
import { getOrMake } from '../base/lookUps.js';

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
 * locks and semaphores also `contended Lock 'x'`: the seconds in which at least one task waited. `held Semaphore 'x'` is the sum of the
 * seconds of all leases in use during this time, for semaphores with several leases.
 */
export const SHARED_CONTEXT = 'shared';
export const WAIT_FOR = 'wait for ';
export const CONTENDED = 'contended ';
export const HELD = 'held ';

/**
 * Context of tasks that no worker had, and that will not run. Activities are `skipped`, because another task
 * failed, and `cancelled`; the unit is `count`. A value is negative if such tasks run after all.
 */
export const DROPPED_CONTEXT = 'dropped';
export const SKIPPED = 'skipped';
export const CANCELLED = 'cancelled';

/**
 * Beginning of the activity of tasks that called a shared object, e.g. `call Variable 'x'`, in units `count` and `milliseconds`: the time
 * until the answers, without waits for other tasks. No unit is `seconds`, because calls that are made together overlap.
 */
export const CALL = 'call ';

/** Beginning of the activity of tasks in which a plugin of their worker ran; its name follows. */
export const PLUGIN = 'plugin ';

/**
 * Context of the graphs that tasks of local schedulers ran on workers of their own (`compute()` inside a task). The activity is
 * `graph`. Its units are `count`, the number of graphs, and sums over them: `seconds`, `tasks` and `workers`.
 */
export const NESTED_CONTEXT = 'nested';

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

export interface TaskKind {
  readonly prefix: string;
  readonly span: readonly string[];
}

/** Returns the kind of the task `firstId + id`; undefined if unknown. */
export type KindOf = (task: number) => TaskKind | undefined;

export interface TaskKinds {
  /** Local id → index into `kinds`. */
  readonly kindOf: Int32Array | readonly number[];
  readonly kinds: readonly TaskKind[];
}

/** Returns the kinds of a computation's tasks: the occurring pairs of prefix and span. Cost: one step per task. */
export function taskKinds(computation: {
  readonly prefixOf: Int32Array;
  readonly prefixes: readonly string[];
  readonly spanOf: Int32Array | null;
  readonly spans: readonly (readonly string[])[];
}): TaskKinds {
  const { prefixOf, prefixes, spanOf, spans } = computation;
  if (spanOf === null) {
    const span = spans[0] ?? [];
    return { kindOf: prefixOf, kinds: prefixes.map((prefix) => ({ prefix, span })) };
  }
  const kindOf = new Int32Array(prefixOf.length);
  const kinds: TaskKind[] = [];
  const known = new Map<number, number>();
  for (let id = 0; id < kindOf.length; id++) {
    const pair = prefixOf[id]! * spans.length + spanOf[id]!;
    kindOf[id] = getOrMake(
      known,
      pair,
      () => kinds.push({ prefix: prefixes[prefixOf[id]!] ?? '', span: spans[spanOf[id]!] ?? [] }) - 1,
    );
  }
  return { kindOf, kinds };
}
