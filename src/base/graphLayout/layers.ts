// Places the nodes of a graph without cycles: a layer per length of the longest way to a node, and in a layer the order in
// which its nodes meet fewest edges on their way, as far as a few sweeps by the mean of neighbours find it.

export interface NodeLayers {
  /** Node → its layer, 0 for what needs nothing. */
  readonly layer: Int32Array;
  /** Node → its place in the layer. */
  readonly place: Int32Array;
  /** Layer → its nodes. */
  readonly sizes: readonly number[];
}

/** What is needed, what needs it. */
export type Edge = readonly [from: number, to: number];

const SWEEPS = 4;
/** More waypoints would be a plait: edges go straight then. */
const MOST_WAYPOINTS = 600;

/** Edges lead from what is needed to what needs it. Cost: O(sweeps × edges), and sorting of layers. */
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

/** Node → its layer. Edges of a cycle, which groups of tasks may have, are followed once. */
export function layersOf(count: number, edges: readonly Edge[]): Int32Array {
  const offsets = new Int32Array(count + 1);
  const waiting = new Int32Array(count);
  for (const [from, to] of edges) {
    offsets[from + 1]! += 1;
    waiting[to]! += 1;
  }
  for (let i = 0; i < count; i++) offsets[i + 1]! += offsets[i]!;
  const next = offsets.slice(0, count);
  const targets = new Int32Array(edges.length);
  for (const [from, to] of edges) targets[next[from]!++] = to;
  const layer = new Int32Array(count);
  const done = new Uint8Array(count);
  const ready: number[] = [];
  for (let node = 0; node < count; node++) if (waiting[node] === 0) ready.push(node);
  for (let finished = 0, spare = 0; finished < count; ) {
    const node = ready.pop();
    if (node === undefined) {
      // Only a cycle is left: its first node breaks it.
      while (done[spare] === 1) spare++;
      ready.push(spare);
      continue;
    }
    if (done[node] === 1) continue;
    done[node] = 1;
    finished++;
    for (let i = offsets[node]!; i < offsets[node + 1]!; i++) {
      const to = targets[i]!;
      if (done[to] === 1) continue;
      layer[to] = Math.max(layer[to]!, layer[node]! + 1);
      waiting[to]! -= 1;
      if (waiting[to] === 0) ready.push(to);
    }
  }
  return layer;
}

export interface RoutedLayers {
  /** Edge → its stations: a node, waypoints, a node. */
  readonly routes: readonly (readonly number[])[];
  /** Of nodes, and after them of waypoints. */
  readonly layer: Int32Array;
  /** Layer → its nodes and waypoints in order. */
  readonly lists: readonly (readonly number[])[];
  /** Pieces of routes from a layer to the next one. */
  readonly edges: readonly Edge[];
}

/**
 * Everything in layers, with a waypoint for an edge in each layer that it passes; the edges of one node share theirs.
 * Waypoints are numbered behind the nodes. Cost: that of `layeredLayout`.
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
      // What leads back is drawn, but places nothing.
      if (from >= count || to >= count || layer[to]! > layer[from]!) pairs.set(from * items + to, [from, to]);
    }
  }
  const forward = [...pairs.values()];
  const placed = layeredLayout(items, forward);
  const lists: number[][] = placed.sizes.map(() => []);
  for (let item = 0; item < items; item++) lists[placed.layer[item]!]![placed.place[item]!] = item;
  return { routes, layer: placed.layer, lists, edges: forward };
}
