// Places a graph whose nodes have labels beside them, so that no edge crosses a label. An edge over several layers has
// a waypoint in each layer between, which takes space of its own. The edges of one node share waypoints. Layers stand
// from left to right, or from top to bottom if they do not fit.
import { type Edge, type NodeLayers, type RoutedLayers, routed } from '../../base/graphLayout/layers.js';
import { settle } from '../../base/graphLayout/settle.js';

export interface RoutedLayout {
  /** Layers of the nodes, without waypoints. */
  readonly layout: NodeLayers;
  /** Whether layers stand from top to bottom. */
  readonly down: boolean;
  /** Centres of the nodes and then of the waypoints, px. */
  readonly x: Float64Array;
  readonly y: Float64Array;
  readonly width: number;
  readonly height: number;
  /** Edge → its route: a node, waypoints, a node. */
  readonly routes: readonly (readonly number[])[];
  /** Returns the SVG path between two neighbours of a route. */
  readonly segment: (from: number, to: number) => string;
}

/** Radius of a node, px. */
export const RADIUS = 5;
const MARGIN = 16;
/** Space between a label and the next layer, in which edges bend, px. */
const MIN_GAP = 28;
const MAX_GAP = 64;
/** Distance between layers that stand from top to bottom, px. */
const LAYER_DOWN = 48;
/** Half of the space of a node and of a waypoint among its neighbours in a layer, px. */
const NODE = 13;
const WAYPOINT = 5;
/** Space between a node and its label, px. */
export const LABEL_GAP = 5;
/** Space to the right of a label that has a neighbour there, px. */
const AFTER_LABEL = 22;

/**
 * Returns a layout. `labels`: width of each node's label, px. `available`: width, px. Cost: that of `layeredLayout`.
 */
export function routedLayout(
  labels: readonly number[],
  edges: readonly Edge[],
  available: number,
): RoutedLayout {
  const count = labels.length;
  const { routes, layer, lists, edges: steps } = routed(count, edges);
  const widest = lists.map((list) =>
    list.reduce((most, node) => Math.max(most, node < count ? 2 * RADIUS + LABEL_GAP + labels[node]! : 0), 0),
  );
  const sum = widest.reduce((all, one) => all + one, 2 * MARGIN);
  const gap = Math.min(MAX_GAP, Math.max(MIN_GAP, (available - sum) / Math.max(1, lists.length - 1)));
  const across = sum + gap * (lists.length - 1);
  const isNode = (item: number) => item < count;
  const isAlike = (a: number, b: number) => isNode(a) === isNode(b);
  const half = (item: number) => (isNode(item) ? NODE : WAYPOINT);
  const beside = settle(lists, steps, isAlike, half, half);
  const right = (item: number) =>
    isNode(item) ? RADIUS + LABEL_GAP + labels[item]! + AFTER_LABEL : WAYPOINT;
  const below = across <= available ? undefined : settle(lists, steps, isAlike, half, right);
  const down = below !== undefined && below.size + 2 * MARGIN < across;
  const layerAt = new Float64Array(lists.length);
  for (let i = 1; i < lists.length; i++)
    layerAt[i] = layerAt[i - 1]! + (down ? LAYER_DOWN : widest[i - 1]! + gap);
  const along = Float64Array.from(layer, (one) => MARGIN + RADIUS + layerAt[one]!);
  const among = Float64Array.from((down ? below : beside).at, (at) => MARGIN + at);
  const size = (down ? below : beside).size + 2 * MARGIN;
  const [x, y] = down ? [among, along] : [along, among];
  const labelEnd = (node: number) =>
    isNode(node) && labels[node]! > 0 ? RADIUS + LABEL_GAP + labels[node]! + 3 : RADIUS;
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
      // The line passes the longest label of its layer before it bends.
      const free = x[from]! - RADIUS + widest[layer[from]!]! + 3;
      const start = `M${x[from]! + (isNode(from) ? labelEnd(from) : 0)} ${y[from]}`;
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
