import type { ResourceSample } from '../protocol/clusterObserver.js';

/** Returns the known figures of a sample by the names that traces use. */
export function figuresOf(sample: ResourceSample): Map<string, number> {
  const { cpu, rss, heap, external, eventLoopDelay } = sample;
  const figures = new Map(Object.entries({ cpu, rss, heap, external, eventLoopDelay }));
  for (const [name, value] of sample.figures ?? []) figures.set(name, value);
  for (const [name, value] of figures) if (Number.isNaN(value)) figures.delete(name);
  return figures;
}
