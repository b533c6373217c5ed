// A compiled graph under the keys of its tasks.
import { LazyMap } from '../base/lazyCollections.js';
import type { Plan } from '../graph/compile.js';
import type { Graph } from '../protocol/graph.js';

/** The graph as callbacks see it: a Map that is filled when somebody looks. */
export function planGraph(plan: Plan): Graph {
  const { keys, sources, ids } = plan;
  return new LazyMap<string, unknown>({
    size: () => keys.length,
    has: (key) => ids.has(key),
    get: (key) => sources[ids.get(key) ?? -1],
    keys: () => keys,
  });
}
