// Places the boxes of a small graph in rows from top to bottom, each node below its dependencies. Edges that span
// several rows bend around the boxes between.
import { routed } from '../base/graphLayout/layers.js';
import { settle } from '../base/graphLayout/settle.js';

/** An acyclic graph to draw; edges lead from a dependency to its dependent. */
export interface Drawable {
  /** Widths of the boxes. */
  readonly widths: readonly number[];
  readonly edges: readonly { readonly from: number; readonly to: number }[];
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface BoxLayout {
  /** Centres of the boxes. */
  readonly nodes: readonly Point[];
  /** Points of each edge: its start, its bends and its end. */
  readonly edges: readonly (readonly Point[])[];
  readonly width: number;
  readonly height: number;
}

export const BOX_HEIGHT = 36;
const ROW_GAP = 56;
const GAP = 32;
const ROW = BOX_HEIGHT + ROW_GAP;

export function layout({ widths, edges }: Drawable): BoxLayout {
  const count = widths.length;
  const {
    routes,
    layer,
    lists,
    edges: steps,
  } = routed(
    count,
    edges.map(({ from, to }) => [from, to]),
  );
  const isBox = (item: number) => item < count;
  const half = (item: number) => ((widths[item] ?? 0) + GAP) / 2;
  const { at, size } = settle(lists, steps, (a, b) => isBox(a) === isBox(b), half, half);
  const centre = (item: number): Point => ({
    x: at[item]! - GAP / 2,
    y: layer[item]! * ROW + BOX_HEIGHT / 2,
  });
  return {
    nodes: widths.map((_, node) => centre(node)),
    edges: routes.map((stations) => {
      const points = stations.map(centre);
      const last = points.length - 1;
      const side = (i: number) => (i === 0 ? BOX_HEIGHT / 2 : i === last ? -BOX_HEIGHT / 2 : 0);
      return points.map(({ x, y }, i) => ({ x, y: y + side(i) }));
    }),
    width: count === 0 ? 0 : size - GAP,
    height: count === 0 ? 0 : (lists.length - 1) * ROW + BOX_HEIGHT,
  };
}
