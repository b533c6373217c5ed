// The kind of a task is its pair of prefix and span. Metrics of tasks are summed by kind.
import { getOrMake } from '../base/lookUps.js';

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
