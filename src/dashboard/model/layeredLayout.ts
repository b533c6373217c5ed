// Places the nodes of a graph without cycles: a layer per length of the longest way to a node, and in a layer the order in
// which its nodes meet fewest edges on their way, as far as a few sweeps by the mean of neighbours find it.

export interface Layout {
  /** Node → its layer, 0 for what needs nothing. */
  readonly layer: Int32Array;
  /** Node → its place in the layer. */
  readonly place: Int32Array;
  /** Layer → its nodes. */
  readonly sizes: readonly number[];
}

const SWEEPS = 4;

/** Edges lead from what is needed to what needs it. Cost: O(sweeps × edges), and sorting of layers. */
export function layeredLayout(count: number, edges: readonly (readonly [number, number])[]): Layout {
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
export function layersOf(count: number, edges: readonly (readonly [number, number])[]): Int32Array {
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
