// The graph of a plan, for callbacks.
import { LazyMap } from '../base/lazyCollections.js';
import type { Plan } from '../graph/compile.js';
import type { Graph } from '../protocol/graph.js';

/** Returns the graph as a Map from keys to tasks, whose entries are created on access. */
export function planGraph(plan: Plan): Graph {
  const { keys, ids, sourceOf } = plan;
  return new LazyMap<string, unknown>({
    size: () => keys.length,
    has: (key) => ids.has(key),
    get: (key) => {
      const id = ids.get(key);
      return id === undefined ? undefined : sourceOf(id);
    },
    keys: () => keys,
  });
}
