// Places for the boxes of a small graph: rows from top to bottom, each node below all that it needs; in a row the order that
// crosses few edges. Edges that span rows bend around the boxes between. For tens of nodes; pipelines have no more.

/** A graph to draw; edges go from what is needed to what needs it, and make no cycle. */
export interface Drawable {
  /** Widths of the boxes. */
  readonly widths: readonly number[];
  readonly edges: readonly { readonly from: number; readonly to: number }[];
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Layout {
  /** Centres of the boxes. */
  readonly nodes: readonly Point[];
  /** By edge: where it begins, bends and ends. */
  readonly edges: readonly (readonly Point[])[];
  readonly width: number;
  readonly height: number;
}

export const BOX_HEIGHT = 36;
const ROW_GAP = 56;
const GAP = 32;
const ROW = BOX_HEIGHT + ROW_GAP;
/** Passes over the rows that look for a better order. */
const SWEEPS = 8;

/** A box, or the place where an edge crosses a row. */
interface Item {
  readonly width: number;
  readonly row: number;
  readonly above: Item[];
  readonly below: Item[];
  x: number;
}

export function layout({ widths, edges }: Drawable): Layout {
  const rowOf = rows(widths.length, edges);
  const grid: Item[][] = Array.from({ length: Math.max(0, ...rowOf) + 1 }, () => []);
  const make = (width: number, row: number): Item => {
    const item: Item = { width, row, above: [], below: [], x: 0 };
    grid[row]!.push(item);
    return item;
  };
  const boxes = widths.map((width, node) => make(width, rowOf[node]!));
  const paths = edges.map(({ from, to }) => path(boxes[from]!, boxes[to]!, make));
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const down = sweep % 2 === 0;
    for (const row of down ? grid : grid.toReversed()) sortRow(row, down ? 'above' : 'below');
  }
  for (const row of grid) pack(row);
  for (let sweep = 0; sweep < SWEEPS; sweep++)
    for (const row of sweep % 2 === 0 ? grid : grid.toReversed()) align(row);
  return measure(grid, boxes, paths);
}

/** The longest way from a node without needs: a node's row is below that of all its needs. */
function rows(count: number, edges: Drawable['edges']): number[] {
  const row = new Array<number>(count).fill(0);
  for (let pass = 0; pass < count; pass++)
    for (const { from, to } of edges) row[to] = Math.max(row[to]!, row[from]! + 1);
  // What only others need stands right above them.
  for (let node = 0; node < count; node++) {
    if (edges.some(({ to }) => to === node)) continue;
    const needing = edges.flatMap(({ from, to }) => (from === node ? [row[to]!] : []));
    if (needing.length > 0) row[node] = Math.min(...needing) - 1;
  }
  return row;
}

/** The items that an edge passes, one per row. */
function path(from: Item, to: Item, make: (width: number, row: number) => Item): Item[] {
  const items = [from];
  for (let row = from.row + 1; row < to.row; row++) items.push(make(0, row));
  items.push(to);
  for (let i = 1; i < items.length; i++) {
    items[i]!.above.push(items[i - 1]!);
    items[i - 1]!.below.push(items[i]!);
  }
  return items;
}

function sortRow(row: Item[], side: 'above' | 'below'): void {
  const wanted = new Map(row.map((item, index) => [item, mean(item[side]) ?? index]));
  row.sort((a, b) => wanted.get(a)! - wanted.get(b)!);
  for (const [index, item] of row.entries()) item.x = index;
}

function mean(items: readonly Item[]): number | undefined {
  return items.length === 0 ? undefined : items.reduce((sum, { x }) => sum + x, 0) / items.length;
}

function pack(row: readonly Item[]): void {
  let x = 0;
  for (const item of row) {
    item.x = x + item.width / 2;
    x += item.width + GAP;
  }
  for (const item of row) item.x -= (x - GAP) / 2;
}

/** Moves the items of a row towards the middle of their neighbours; their order and the gaps between them stay. */
function align(row: readonly Item[]): void {
  const wanted = row.map((item) => mean([...item.above, ...item.below]) ?? item.x);
  const least = (i: number): number => row[i - 1]!.x + (row[i - 1]!.width + row[i]!.width) / 2 + GAP;
  for (const [i, item] of row.entries()) item.x = i === 0 ? wanted[i]! : Math.max(wanted[i]!, least(i));
  // What was pushed to the right is shared between both sides.
  const shift = row.reduce((sum, item, i) => sum + item.x - wanted[i]!, 0) / Math.max(1, row.length);
  for (const item of row) item.x -= shift;
}

function measure(
  grid: readonly (readonly Item[])[],
  boxes: readonly Item[],
  paths: readonly (readonly Item[])[],
): Layout {
  const items = grid.flat();
  const left = Math.min(0, ...items.map(({ x, width }) => x - width / 2));
  const right = Math.max(0, ...items.map(({ x, width }) => x + width / 2));
  const centre = (item: Item): Point => ({ x: item.x - left, y: item.row * ROW + BOX_HEIGHT / 2 });
  const edges = paths.map((passed) =>
    passed.map((item, i) => {
      const { x, y } = centre(item);
      if (i === 0) return { x, y: y + BOX_HEIGHT / 2 };
      return i === passed.length - 1 ? { x, y: y - BOX_HEIGHT / 2 } : { x, y };
    }),
  );
  return {
    nodes: boxes.map(centre),
    edges,
    width: right - left,
    height: items.length === 0 ? 0 : (grid.length - 1) * ROW + BOX_HEIGHT,
  };
}
