// The figures of a resource sample by name, as traces keep them.
import type { ResourceSample } from '../protocol/clusterObserver.js';

/** All figures that are known. */
export function figuresOf(sample: ResourceSample): Map<string, number> {
  const { cpu, rss, heap, external, eventLoopDelay } = sample;
  const figures = new Map(Object.entries({ cpu, rss, heap, external, eventLoopDelay }));
  for (const [name, value] of sample.figures ?? []) figures.set(name, value);
  for (const [name, value] of figures) if (Number.isNaN(value)) figures.delete(name);
  return figures;
}
