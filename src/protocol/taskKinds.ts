// What the tasks of a computation are counted under, where they run: prefix and span.

export interface TaskKind {
  readonly prefix: string;
  readonly span: readonly string[];
}

/** The kind of the task `firstId + id`; undefined: nobody knows. */
export type KindOf = (task: number) => TaskKind | undefined;

export interface TaskKinds {
  /** Local id → index into `kinds`. */
  readonly kindOf: Int32Array;
  readonly kinds: readonly TaskKind[];
}

/** The kinds of a computation's tasks: those pairs of prefix and span that there are. Cost: one step per task. */
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
    let kind = known.get(pair);
    if (kind === undefined) {
      kind = kinds.push({ prefix: prefixes[prefixOf[id]!] ?? '', span: spans[spanOf[id]!] ?? [] }) - 1;
      known.set(pair, kind);
    }
    kindOf[id] = kind;
  }
  return { kindOf, kinds };
}
