// Splits a graph whose tasks were created under different options into stages with one set of options each. A stage needs
// only results of earlier stages.
import { type Annotations, definedAnnotations } from './definedWith.js';
import { type Delayed, dependenciesOf, nodesOf } from './delayed.js';

export interface AnnotatedStage {
  /** Options of the tasks. Undefined for tasks that were created outside any block. */
  readonly annotations: Annotations | undefined;
  /** Tasks whose results the caller or later stages need. */
  readonly delayeds: readonly Delayed<unknown>[];
}

/**
 * Returns the name of an option with which a task was created and that only clusters support, if any. Local schedulers
 * support priorities.
 */
export function clusterAnnotation(roots: readonly Delayed<unknown>[]): string | undefined {
  if (definedAnnotations.source === undefined) return undefined;
  const checked = new Set<Annotations | undefined>();
  for (const node of nodesOf(roots).values()) checked.add(definedAnnotations.of(node));
  for (const annotations of checked)
    for (const [name, value] of Object.entries(annotations ?? {}))
      if (name !== 'priority' && value !== undefined) return name;
  return undefined;
}

interface Part {
  readonly annotations: Annotations | undefined;
  readonly level: number;
  readonly needed: Set<Delayed<unknown>>;
}

/**
 * Returns the stages in an order in which they can be submitted; none if no task was annotated. Connected tasks with the
 * same options are one stage, unless a task with other options lies between them.
 *
 * @throws LongpoleError ERR_LONGPOLE_CYCLE, ERR_LONGPOLE_INVALID_GRAPH
 */
export function annotatedStages(roots: readonly Delayed<unknown>[]): readonly AnnotatedStage[] {
  if (definedAnnotations.source === undefined) return [];
  const nodes = nodesOf(roots);
  if (![...nodes.values()].some((node) => definedAnnotations.of(node) !== undefined)) return [];
  const partOf = new Map<string, Part>();
  const parts = new Map<Annotations | undefined, Map<number, Part>>();
  for (const [key, node] of nodes) {
    const annotations = definedAnnotations.of(node);
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
