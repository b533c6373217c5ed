// A graph in which tasks were made under several sets of options, as parts with one set each. A part needs results of earlier
// parts only.
import { type Annotations, annotationsInUse, annotationsOf } from './annotationContext.js';
import { type Delayed, dependenciesOf, nodesOf } from './delayed.js';

export interface AnnotatedStage {
  /** Undefined for tasks that were made outside any block. */
  readonly annotations: Annotations | undefined;
  /** The tasks of this part whose results later parts need, or the caller. */
  readonly delayeds: readonly Delayed<unknown>[];
}

interface Part {
  readonly annotations: Annotations | undefined;
  readonly level: number;
  readonly needed: Set<Delayed<unknown>>;
}

/**
 * The parts in the order in which they can be submitted; none if no task was annotated. Tasks that need each other and have the
 * same options are one part, unless a task with other options lies between them.
 *
 * @throws LongpoleError ERR_LONGPOLE_CYCLE, ERR_LONGPOLE_INVALID_GRAPH
 */
export function annotatedStages(roots: readonly Delayed<unknown>[]): readonly AnnotatedStage[] {
  if (!annotationsInUse()) return [];
  const nodes = new Map<string, Delayed<unknown>>();
  for (const root of roots) nodesOf(root, nodes);
  if (![...nodes.values()].some((node) => annotationsOf(node) !== undefined)) return [];
  const partOf = new Map<string, Part>();
  const parts = new Map<Annotations | undefined, Map<number, Part>>();
  for (const [key, node] of nodes) {
    const annotations = annotationsOf(node);
    const dependencies = dependenciesOf(node).map((one) => ({ one, part: partOf.get(one.key)! }));
    const level = dependencies.reduce(
      (most, { part }) => Math.max(most, part.annotations === annotations ? part.level : part.level + 1),
      0,
    );
    const levels = parts.get(annotations) ?? new Map<number, Part>();
    const part = levels.get(level) ?? { annotations, level, needed: new Set<Delayed<unknown>>() };
    parts.set(annotations, levels.set(level, part));
    partOf.set(key, part);
    for (const { one, part: from } of dependencies) if (from !== part) from.needed.add(nodes.get(one.key)!);
  }
  for (const { key } of roots) partOf.get(key)!.needed.add(nodes.get(key)!);
  return [...parts.values()]
    .flatMap((levels) => [...levels.values()])
    .sort((a, b) => a.level - b.level)
    .map(({ annotations, needed }) => ({ annotations, delayeds: [...needed] }));
}
