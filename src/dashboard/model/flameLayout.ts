// The layout of a flame graph: one row per depth of the call tree, the outermost functions first. Widths are in samples,
// so zooming needs no new layout.
import { firstWhere, getOrMake } from '../../base/lookUps.js';
import { type CallTree, selfCount } from '../../profile/callTree.js';

export interface FlameBox {
  readonly node: CallTree;
  readonly parent: FlameBox | undefined;
  /** 0 for the root, which holds all samples. */
  readonly depth: number;
  readonly start: number;
}

export interface FlameLayout {
  readonly root: FlameBox;
  /** Rows by depth. The boxes of a row are sorted by `start` and do not overlap. */
  readonly rows: readonly (readonly FlameBox[])[];
}

/**
 * Returns the layout of a tree, children with the most samples first. Cost: one visit per node, and sorting the
 * children.
 */
export function flameLayout(tree: CallTree): FlameLayout {
  const root: FlameBox = { node: tree, parent: undefined, depth: 0, start: 0 };
  const rows: FlameBox[][] = [];
  // Breadth first, so that every row is in order.
  let row = [root];
  while (row.length > 0) {
    rows.push(row);
    const next: FlameBox[] = [];
    for (const parent of row) {
      let start = parent.start;
      for (const node of Object.values(parent.node.children).sort((a, b) => b.count - a.count)) {
        next.push({ node, parent, depth: parent.depth + 1, start });
        start += node.count;
      }
    }
    row = next;
  }
  return { root, rows };
}

/** Returns the index of the box in which a sample falls, or -1. */
export function boxAt(row: readonly FlameBox[], sample: number): number {
  const at = firstWhere(0, row.length, (i) => row[i]!.start > sample) - 1;
  const box = row[at];
  return box !== undefined && sample < box.start + box.node.count ? at : -1;
}

/** Returns the caller, the first callee or the neighbour to which an arrow key leads from a box. */
export function stepFrom({ rows }: FlameLayout, box: FlameBox, key: string): FlameBox | undefined {
  const row = rows[box.depth] ?? [];
  switch (key) {
    case 'ArrowUp':
      return box.parent;
    case 'ArrowDown': {
      const inner = rows[box.depth + 1] ?? [];
      const first = inner[firstFrom(inner, box.start)];
      return first?.parent === box ? first : undefined;
    }
    case 'ArrowLeft':
      return row[firstFrom(row, box.start) - 1];
    case 'ArrowRight':
      return row[firstFrom(row, box.start) + 1];
    default:
      return undefined;
  }
}

/** Returns the identifiers from the outermost function to the box. They find the same function in a later tree. */
export function pathOf(box: FlameBox): readonly string[] {
  const path: string[] = [];
  for (let at: FlameBox | undefined = box; at?.parent !== undefined; at = at.parent)
    path.push(at.node.identifier);
  return path.reverse();
}

/** Returns the box at the end of a path, or the deepest box of the path that the tree has. */
export function boxOfPath({ root, rows }: FlameLayout, path: readonly string[]): FlameBox {
  let found = root;
  for (const identifier of path) {
    const row = rows[found.depth + 1] ?? [];
    const end = found.start + found.node.count;
    let next: FlameBox | undefined;
    for (let i = firstFrom(row, found.start); i < row.length && row[i]!.start < end; i++)
      if (row[i]!.node.identifier === identifier) next = row[i];
    if (next === undefined) return found;
    found = next;
  }
  return found;
}

function firstFrom(row: readonly FlameBox[], start: number): number {
  return firstWhere(0, row.length, (i) => row[i]!.start >= start);
}

/** Returns whether the name or the file of a function contains the query, in any case. */
export function isFound({ description: { name, filename } }: CallTree, query: string): boolean {
  const wanted = query.trim().toLowerCase();
  if (wanted === '') return false;
  return name.toLowerCase().includes(wanted) || filename.toLowerCase().includes(wanted);
}

/** Returns the number of samples whose stack has a function that matches the query. */
export function foundSamples({ root }: FlameLayout, query: string): number {
  let sum = 0;
  const work: CallTree[] = Object.values(root.node.children);
  for (let node = work.pop(); node !== undefined; node = work.pop()) {
    if (isFound(node, query)) sum += node.count;
    else for (const child of Object.values(node.children)) work.push(child);
  }
  return sum;
}

export interface FunctionSum {
  readonly identifier: string;
  readonly name: string;
  /** `file:line`; empty for built-in code. */
  readonly place: string;
  /** Samples in the function itself. */
  readonly self: number;
  /** Samples with the function on the stack. */
  readonly total: number;
  /** Path to the box with the most samples. */
  readonly path: readonly string[];
}

interface OpenSum {
  readonly node: CallTree;
  self: number;
  total: number;
  most: FlameBox;
}

/** Returns all functions, the most samples of their own first. A recursive function counts once per stack. */
export function functionSums({ rows }: FlameLayout): FunctionSum[] {
  const sums = new Map<string, OpenSum>();
  for (const row of rows.slice(1)) {
    for (const box of row) {
      const { node } = box;
      const sum = getOrMake(sums, node.identifier, () => ({ node, self: 0, total: 0, most: box }));
      sum.self += selfCount(node);
      if (!isRecursive(box)) sum.total += node.count;
      if (node.count > sum.most.node.count) sum.most = box;
    }
  }
  return Array.from(sums, ([identifier, { node, self, total, most }]) => ({
    identifier,
    name: node.description.name,
    place: placeOf(node),
    self,
    total,
    path: pathOf(most),
  })).sort((a, b) => b.self - a.self || b.total - a.total);
}

function isRecursive({ node: { identifier }, parent }: FlameBox): boolean {
  for (let at = parent; at !== undefined; at = at.parent) if (at.node.identifier === identifier) return true;
  return false;
}

/** Returns `file:line` with the last folder of the file only; empty for built-in code. */
export function placeOf({ description: { filename, lineNumber } }: CallTree): string {
  if (filename === '') return '';
  const short = filename
    .replace(/^file:\/\//, '')
    .split('/')
    .slice(-2)
    .join('/');
  return lineNumber > 0 ? `${short}:${lineNumber}` : short;
}
