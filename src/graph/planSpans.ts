// The spans of a plan's tasks: that in which a task was defined, else that in which it is computed.
import { DEFAULT_SPAN } from '../protocol/metrics.js';
import { currentSpan, type SpanRef, spansInUse } from './spanContext.js';

export interface PlanSpans {
  /** Task id → index into `names`; null: all are in the first. */
  readonly of: Int32Array | null;
  /** E.g. `["Alice", "load"]`. */
  readonly names: readonly (readonly string[])[];
  /** By index: the lines that opened it, the outermost first. */
  readonly code: readonly (readonly string[])[];
}

/** Undefined if no program has opened a span: then this costs nothing. */
export function planSpans(size: number, spanOf: (id: number) => SpanRef | undefined): PlanSpans | undefined {
  if (!spansInUse()) return undefined;
  const outside = currentSpan() ?? { tags: DEFAULT_SPAN, code: [] };
  const of = new Int32Array(size);
  const refs: SpanRef[] = [];
  const byRef = new Map<SpanRef, number>();
  const byTags = new Map<string, number>();
  for (let id = 0; id < size; id++) {
    const ref = spanOf(id) ?? outside;
    let index = byRef.get(ref);
    if (index === undefined) {
      // A block that ran twice has opened two spans of the same name: they are one.
      const name = JSON.stringify(ref.tags);
      index = byTags.get(name) ?? refs.push(ref) - 1;
      byTags.set(name, index);
      byRef.set(ref, index);
    }
    of[id] = index;
  }
  if (refs.length === 0) return undefined;
  return {
    of: refs.length === 1 ? null : of,
    names: refs.map(({ tags }) => tags),
    code: refs.map(({ code }) => code),
  };
}
