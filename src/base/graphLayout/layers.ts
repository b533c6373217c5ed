// Places the nodes of an acyclic graph in layers. The layer of a node is the length of the longest path to the node.
// Inside a layer, a few sweeps order the nodes by the mean place of their neighbours, so that few edges cross.
import { countedOffsets, groupedRows } from '../groups.js';

export interface NodeLayers {
  /** Layer of each node; 0 for nodes without dependencies. */
  readonly layer: Int32Array;
  readonly place: Int32Array;
  readonly sizes: readonly number[];
}

/** An edge from a dependency to its dependent. */
export type Edge = readonly [from: number, to: number];

const SWEEPS = 4;
/** With more waypoints, lines would tangle. Edges are straight lines then. */
const MOST_WAYPOINTS = 600;

/**
 * Returns layers and places. Edges lead from a dependency to its dependent. Cost: O(sweeps × edges), and sorting the
 * layers.
 */
export function layeredLayout(count: number, edges: readonly Edge[]): NodeLayers {
  const layer = layersOf(count, edges);
  const lists: number[][] = [];
  for (let node = 0; node < count; node++) {
    lists[layer[node]!] ??= [];
    lists[layer[node]!]!.push(node);
  }
  const place = new Int32Array(count);
  const number = (list: readonly number[]) => {
    for (const [i, node] of list.entries()) place[node] = i;
  };
  for (const list of lists) number(list);
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const down = sweep % 2 === 0;
    const mean = new Float64Array(count);
    const degree = new Int32Array(count);
    for (const [from, to] of edges) {
      const [node, neighbour] = down ? [to, from] : [from, to];
      mean[node]! += place[neighbour]! / Math.max(1, (lists[layer[neighbour]!]?.length ?? 1) - 1);
      degree[node]! += 1;
    }
    for (const list of lists) {
      const size = Math.max(1, list.length - 1);
      const wanted = (node: number) =>
        degree[node] === 0 ? place[node]! / size : mean[node]! / degree[node]!;
      list.sort((a, b) => wanted(a) - wanted(b) || place[a]! - place[b]!);
      number(list);
    }
  }
  return { layer, place, sizes: lists.map(({ length }) => length) };
}

/** Returns the layer of each node. An edge that closes a cycle is followed once: groups of tasks may have cycles. */
function layersOf(count: number, edges: readonly Edge[]): Int32Array {
  const froms = Int32Array.from(edges, ([from]) => from);
  const offsets = countedOffsets(froms, count);
  const order = groupedRows(froms, offsets);
  const waiting = new Int32Array(count);
  for (const [, to] of edges) waiting[to]! += 1;
  const layer = new Int32Array(count);
  const done = new Uint8Array(count);
  const ready: number[] = [];
  for (let node = 0; node < count; node++) if (waiting[node] === 0) ready.push(node);
  for (let finished = 0, unvisited = 0; finished < count; ) {
    const node = ready.pop();
    if (node === undefined) {
      // Only nodes on cycles are left. The first of them breaks its cycle.
      while (done[unvisited] === 1) unvisited++;
      ready.push(unvisited);
      continue;
    }
    if (done[node] === 1) continue;
    done[node] = 1;
    finished++;
    for (let i = offsets[node]!; i < offsets[node + 1]!; i++) {
      const to = edges[order[i]!]![1];
      if (done[to] === 1) continue;
      layer[to] = Math.max(layer[to]!, layer[node]! + 1);
      waiting[to]! -= 1;
      if (waiting[to] === 0) ready.push(to);
    }
  }
  return layer;
}

export interface RoutedLayers {
  /** Stations of each edge: a node, waypoints, a node. */
  readonly routes: readonly (readonly number[])[];
  /** Layer of each node, then of each waypoint. */
  readonly layer: Int32Array;
  /** Nodes and waypoints of each layer, in order. */
  readonly lists: readonly (readonly number[])[];
  /** Sections of routes, each from one layer to the next. */
  readonly edges: readonly Edge[];
}

/**
 * Places nodes and waypoints in layers. An edge has a waypoint in each layer that it crosses; the edges of one node
 * share their waypoints. The ids of waypoints follow those of nodes. Cost: the cost of `layeredLayout`.
 */
export function routed(count: number, edges: readonly Edge[]): RoutedLayers {
  const layer = layersOf(count, edges);
  const reach = new Int32Array(count);
  for (const [from, to] of edges) reach[from] = Math.max(reach[from]!, layer[to]! - layer[from]! - 1);
  const wanted = reach.reduce((sum, one) => sum + one, 0);
  const firstOf = new Int32Array(count);
  let items = count;
  for (let node = 0; node < count && wanted <= MOST_WAYPOINTS; node++) {
    firstOf[node] = items;
    items += reach[node]!;
  }
  const routes = edges.map(([from, to]) => {
    const between = wanted <= MOST_WAYPOINTS ? Math.max(0, layer[to]! - layer[from]! - 1) : 0;
    return [from, ...Array.from({ length: between }, (_, i) => firstOf[from]! + i), to];
  });
  const pairs = new Map<number, Edge>();
  for (const route of routes) {
    for (let i = 1; i < route.length; i++) {
      const [from, to] = [route[i - 1]!, route[i]!];
      // An edge that leads back is drawn, but does not influence the places.
      if (from >= count || to >= count || layer[to]! > layer[from]!) pairs.set(from * items + to, [from, to]);
    }
  }
  const forward = [...pairs.values()];
  const placed = layeredLayout(items, forward);
  const lists: number[][] = placed.sizes.map(() => []);
  for (let item = 0; item < items; item++) lists[placed.layer[item]!]![placed.place[item]!] = item;
  return { routes, layer: placed.layer, lists, edges: forward };
}
