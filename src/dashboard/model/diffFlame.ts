// A flame graph of the difference between two sets of runs. A box is as wide as the longer of its two times, or as the
// sum of its callees if that is more.
import type { CallTree } from '../../profile/callTree.js';
import type { StackDiff } from '../../profile/stackDiff.js';
import { type FlameBox, type FlameLayout, flameLayout } from './flameLayout.js';
import { mix, type Scheme } from './palette.js';

export interface DiffFlame {
  readonly layout: FlameLayout;
  /** Returns the times of a box before and after. */
  placeOf(box: FlameBox): StackDiff;
}

/** Returns a layout with widths in seconds instead of samples. Cost: one visit per place of a stack. */
export function diffFlame(root: StackDiff): DiffFlame {
  const places = new Map<CallTree, StackDiff>();
  const layout = flameLayout(treeOf(root, 'root', places));
  return { layout, placeOf: (box) => places.get(box.node) ?? root };
}

function treeOf(place: StackDiff, identifier: string, places: Map<CallTree, StackDiff>): CallTree {
  const children: Record<string, CallTree> = {};
  let inside = 0;
  for (const child of place.children) {
    const name = `${child.name};${child.filename}`;
    const node = treeOf(child, name, places);
    if (node.count === 0) continue;
    children[name] = node;
    inside += node.count;
  }
  const { name, filename, lineNumber } = place;
  const count = Math.max(place.before, place.after, inside);
  const node = { identifier, description: { name, filename, lineNumber }, count, children };
  places.set(node, place);
  return node;
}

/** Colours that differ for readers with red-green colour blindness, too. */
export const DIFF_COLORS: Readonly<Record<Scheme, { slower: string; faster: string; same: string }>> = {
  light: { slower: '#e8772e', faster: '#3f8ad8', same: '#d3d8e0' },
  dark: { slower: '#f08a45', faster: '#5ba3ee', same: '#414957' },
};
/** Change, as a share of the longer time, from which a colour is saturated. */
const SATURATED = 0.5;

export function diffColor({ before, after }: StackDiff, scheme: Scheme): string {
  const { slower, faster, same } = DIFF_COLORS[scheme];
  const longer = Math.max(before, after);
  const share = longer > 0 ? (after - before) / longer / SATURATED : 0;
  return mix(share > 0 ? slower : faster, same, Math.min(1, Math.abs(share)));
}

/** Returns the change, e.g. `+0.12 s`; empty below half a millisecond. */
export function changeText({ before, after }: StackDiff): string {
  const change = after - before;
  if (Math.abs(change) < 5e-4) return '';
  return `${change > 0 ? '+' : '−'}${Math.abs(change).toFixed(Math.abs(change) < 0.1 ? 3 : 2)} s`;
}
