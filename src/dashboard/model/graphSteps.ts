// Keyboard steps in a graph that is drawn from left to right: along edges, or to the neighbour in the column.
import type { NodeLayers } from '../../base/graphLayout/layers.js';

/**
 * Returns the node to which a key leads from `node`; undefined if the key does nothing there. Right leads to the
 * nearest node that needs this node, left to the nearest node that this node needs. Without such a node, both lead to
 * the neighbour in the next column. Cost: O(nodes + edges).
 */
export function stepInGraph(
  { layer, place, sizes }: NodeLayers,
  edges: readonly (readonly [number, number])[],
  node: number,
  key: string,
): number | undefined {
  const at = (wantedLayer: number, wantedPlace: number): number | undefined => {
    const found = layer.findIndex((one, i) => one === wantedLayer && place[i] === wantedPlace);
    return found < 0 ? undefined : found;
  };
  const column = layer[node];
  const row = place[node];
  if (column === undefined || row === undefined) return undefined;
  const across = (by: 1 | -1): number | undefined => {
    const linked = edges
      .filter((edge) => edge[by > 0 ? 0 : 1] === node)
      .map((edge) => edge[by > 0 ? 1 : 0])
      .sort((a, b) => Math.abs(layer[a]! - column) - Math.abs(layer[b]! - column) || place[a]! - place[b]!);
    return linked[0] ?? at(column + by, Math.min(row, (sizes[column + by] ?? 0) - 1));
  };
  switch (key) {
    case 'ArrowRight':
      return across(1);
    case 'ArrowLeft':
      return across(-1);
    case 'ArrowDown':
      return at(column, row + 1);
    case 'ArrowUp':
      return at(column, row - 1);
    case 'Home':
      return at(0, 0);
    case 'End':
      return at(sizes.length - 1, 0);
    default:
      return undefined;
  }
}
