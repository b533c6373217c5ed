// Draws a pipeline or the graph of a Delayed as an SVG image: a box per step, and an arrow with a name per input. The image
// refers to no other file and is readable on light and dark backgrounds.

import { routed } from '../base/graphLayout/layers.js';
import { settle } from '../base/graphLayout/settle.js';
import { escapeHtml } from '../base/visibleText.js';

export interface BoxDrawing {
  readonly nodes: readonly string[];
  readonly edges: readonly { readonly from: number; readonly to: number; readonly label: string }[];
}

const MARGIN = 16;
const TITLE = 28;
/** Width of a letter in pixels, which is enough for every usual system font. */
const LETTER = 7.6;
const PADDING = 28;

const STYLE = `
text { font: 13px system-ui, sans-serif; fill: #1d2733; text-anchor: middle; dominant-baseline: central; }
.title { font-weight: 600; text-anchor: start; }
.box { fill: #eef3f8; stroke: #4a6582; rx: 6px; }
.edge { fill: none; stroke: #4a6582; stroke-width: 1.3; }
.label { font-size: 11px; text-anchor: start; fill: #4a6582; }
.page { fill: #ffffff; }`;

/** Returns the image as SVG text. */
export function drawBoxes(title: string, { nodes, edges }: BoxDrawing): string {
  const widths = nodes.map((name) => [...name].length * LETTER + PADDING);
  const places = layout({ widths, edges });
  const width = Math.ceil(Math.max(places.width, [...title].length * LETTER) + 2 * MARGIN);
  const height = Math.ceil(places.height + 2 * MARGIN + TITLE);
  const body = [
    ...places.edges.flatMap((points, index) => arrow(points, edges[index]!.label)),
    ...places.nodes.flatMap((centre, index) => box(centre, widths[index]!, nodes[index]!)),
  ];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${escapeHtml(title)}</title>`,
    `<style>${STYLE}</style>`,
    '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z" fill="#4a6582"/></marker></defs>',
    `<rect class="page" width="${width}" height="${height}"/>`,
    `<text class="title" x="${MARGIN}" y="${MARGIN + 6}">${escapeHtml(title)}</text>`,
    `<g transform="translate(${MARGIN} ${MARGIN + TITLE})">`,
    ...body,
    '</g>',
    '</svg>',
    '',
  ].join('\n');
}

function box({ x, y }: Point, width: number, name: string): string[] {
  const [left, top] = [x - width / 2, y - BOX_HEIGHT / 2].map(round);
  return [
    `<rect class="box" x="${left}" y="${top}" width="${round(width)}" height="${BOX_HEIGHT}"/>`,
    `<text x="${round(x)}" y="${round(y)}">${escapeHtml(name)}</text>`,
  ];
}

/** Returns a curve that is vertical where it leaves a box, meets a box, or passes a row. */
function arrow(points: readonly Point[], label: string): string[] {
  const [first, ...rest] = points;
  if (first === undefined) return [];
  let path = `M${round(first.x)} ${round(first.y)}`;
  let from = first;
  for (const to of rest) {
    const middle = round((from.y + to.y) / 2);
    path += `C${round(from.x)} ${middle} ${round(to.x)} ${middle} ${round(to.x)} ${round(to.y)}`;
    from = to;
  }
  const before = points.at(-2) ?? first;
  const [x, y] = [(before.x + from.x) / 2 + 9, (before.y + from.y) / 2 - 6].map(round);
  return [
    `<path class="edge" d="${path}" marker-end="url(#tip)"/>`,
    `<text class="label" x="${x}" y="${y}">${escapeHtml(label)}</text>`,
  ];
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/** An acyclic graph to draw; edges lead from a dependency to its dependent. */
interface Drawable {
  /** Widths of the boxes. */
  readonly widths: readonly number[];
  readonly edges: readonly { readonly from: number; readonly to: number }[];
}

interface Point {
  readonly x: number;
  readonly y: number;
}

interface BoxLayout {
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

/**
 * Places boxes in rows from top to bottom, each below its dependencies. Edges that span several rows bend around the
 * boxes between.
 */
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
