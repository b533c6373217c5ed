// Places a graph whose nodes have words beside them, so that no edge goes through a word. An edge over several layers has a
// waypoint in each layer between, with room of its own; the edges of one node share theirs. Layers stand from left to right,
// or below each other where they do not fit.
import { type Edge, type NodeLayers, type RoutedLayers, routed } from '../../base/graphLayout/layers.js';
import { settle } from '../../base/graphLayout/settle.js';

export interface RoutedLayout {
  /** Of the nodes alone. */
  readonly layout: NodeLayers;
  /** Whether layers stand below each other. */
  readonly down: boolean;
  /** Centres of the nodes, px; after them those of the waypoints. */
  readonly x: Float64Array;
  readonly y: Float64Array;
  readonly width: number;
  readonly height: number;
  /** Edge → its stations: a node, waypoints, a node. */
  readonly routes: readonly (readonly number[])[];
  /** SVG path between two neighbours of a route. */
  readonly segment: (from: number, to: number) => string;
}

/** Of a node, px. */
export const RADIUS = 5;
const MARGIN = 16;
/** Between a word and the next layer, px: edges bend there. */
const LEAST_GAP = 28;
const LARGEST_GAP = 64;
/** Of a layer below the one before, px. */
const LAYER_DOWN = 48;
/** Half of the room of a node and of a waypoint among its neighbours in a layer, px. */
const NODE = 13;
const WAYPOINT = 5;
/** Between a node and its word, px. */
export const BESIDE = 5;
/** Right of a word that has a neighbour there. */
const AFTER = 22;

/** `words`: the width of each node's word in px. `room`: px that are there. Cost: that of `layeredLayout`. */
export function routedLayout(words: readonly number[], edges: readonly Edge[], room: number): RoutedLayout {
  const count = words.length;
  const { routes, layer, lists, edges: steps } = routed(count, edges);
  const widest = lists.map((list) =>
    list.reduce((most, node) => Math.max(most, node < count ? 2 * RADIUS + BESIDE + words[node]! : 0), 0),
  );
  const sum = widest.reduce((all, one) => all + one, 2 * MARGIN);
  const gap = Math.min(LARGEST_GAP, Math.max(LEAST_GAP, (room - sum) / Math.max(1, lists.length - 1)));
  const across = sum + gap * (lists.length - 1);
  const isNode = (item: number) => item < count;
  const isAlike = (a: number, b: number) => isNode(a) === isNode(b);
  const half = (item: number) => (isNode(item) ? NODE : WAYPOINT);
  const beside = settle(lists, steps, isAlike, half, half);
  const right = (item: number) => (isNode(item) ? RADIUS + BESIDE + words[item]! + AFTER : WAYPOINT);
  const below = across <= room ? undefined : settle(lists, steps, isAlike, half, right);
  const down = below !== undefined && below.size + 2 * MARGIN < across;
  const layerAt = new Float64Array(lists.length);
  for (let i = 1; i < lists.length; i++)
    layerAt[i] = layerAt[i - 1]! + (down ? LAYER_DOWN : widest[i - 1]! + gap);
  const along = Float64Array.from(layer, (one) => MARGIN + RADIUS + layerAt[one]!);
  const among = Float64Array.from((down ? below : beside).at, (at) => MARGIN + at);
  const size = (down ? below : beside).size + 2 * MARGIN;
  const [x, y] = down ? [among, along] : [along, among];
  const wordEnd = (node: number) =>
    isNode(node) && words[node]! > 0 ? RADIUS + BESIDE + words[node]! + 3 : RADIUS;
  return {
    layout: layoutOfNodes(count, layer, lists),
    down,
    x,
    y,
    width: down ? size : across,
    height: down ? (layerAt[lists.length - 1] ?? 0) + 2 * (MARGIN + RADIUS) : size,
    routes,
    segment: (from, to) => {
      const end = (node: number) => (isNode(node) ? RADIUS : 0);
      if (down) return bend(x[from]!, y[from]! + end(from), x[to]!, y[to]! - end(to), true);
      // Past the longest word of its layer, and only then up or down.
      const free = x[from]! - RADIUS + widest[layer[from]!]! + 3;
      const start = `M${x[from]! + (isNode(from) ? wordEnd(from) : 0)} ${y[from]}`;
      if (layer[to]! <= layer[from]!) return bend(x[from]!, y[from]! + RADIUS, x[to]!, y[to]! - RADIUS, true);
      return `${start}H${free}${bend(free, y[from]!, x[to]! - end(to), y[to]!, false)}`;
    },
  };
}

function bend(x1: number, y1: number, x2: number, y2: number, down: boolean): string {
  const [mx, my] = [(x1 + x2) / 2, (y1 + y2) / 2];
  const middle = down ? `${x1} ${my} ${x2} ${my}` : `${mx} ${y1} ${mx} ${y2}`;
  return `M${x1} ${y1}C${middle} ${x2} ${y2}`;
}

function layoutOfNodes(count: number, layer: Int32Array, lists: RoutedLayers['lists']): NodeLayers {
  const place = new Int32Array(count);
  const sizes = lists.map((list) => {
    const nodes = list.filter((item) => item < count);
    for (const [i, node] of nodes.entries()) place[node] = i;
    return nodes.length;
  });
  return { layer: layer.slice(0, count), place, sizes };
}
