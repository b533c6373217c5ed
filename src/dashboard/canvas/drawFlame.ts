// Draws the flame graph. Neighbouring functions narrower than a pixel become one gray box, so the cost depends on the
// width and not on the number of functions. The callers of the zoomed function are as wide as the view.
import { boxAt, type FlameBox, type FlameLayout, isFound, placeOf } from '../model/flameLayout.js';
import { colorSlot, mix, type Scheme, slotColor, textOn } from '../model/palette.js';
import { fitText, type Renderer } from './renderer.js';
import type { Theme } from './theme.js';

/** Height of a row, px. */
const FLAME_ROW = 20;
/** Narrowest label, px. */
const MIN_LABEL = 26;

export interface FlameScene {
  readonly layout: FlameLayout;
  readonly focus: FlameBox;
  readonly query: string;
  readonly hovered: FlameBox | undefined;
  readonly width: number;
  readonly theme: Theme;
  /** Default: one colour per file, and the file after the name. */
  readonly paint?: FlamePaint | undefined;
}

/** Colours and notes of boxes, e.g. of a difference between two runs. */
export interface FlamePaint {
  /** Returns `#rrggbb`. */
  color(box: FlameBox, scheme: Scheme): string;
  /** Returns the text after the function's name. */
  note(box: FlameBox): string;
}

/** Returns the height of all rows, px. */
export function flameHeight({ rows }: FlameLayout): number {
  return rows.length * FLAME_ROW;
}

/** Returns the x coordinate of a sample, px. */
function flameX({ focus, width }: Pick<FlameScene, 'focus' | 'width'>, sample: number): number {
  return focus.node.count === 0 ? 0 : ((sample - focus.start) / focus.node.count) * width;
}

/** Returns the function's name; the root is called "all samples". */
export function flameName({ node, parent }: FlameBox): string {
  if (parent === undefined) return 'all samples';
  return node.description.name === '' ? '(anonymous)' : node.description.name;
}

export function drawFlame(renderer: Renderer, scene: FlameScene): void {
  const { layout, focus, width, theme } = scene;
  renderer.begin(width, flameHeight(layout));
  const outer = new Set<FlameBox>();
  for (let at: FlameBox | undefined = focus; at !== undefined; at = at.parent) outer.add(at);
  const end = focus.start + focus.node.count;
  for (const [depth, row] of layout.rows.entries()) {
    let gray = -1;
    let grayEnd = -1;
    const flush = () => {
      if (grayEnd > gray)
        renderer.rect(gray, depth * FLAME_ROW, Math.max(1, grayEnd - gray), FLAME_ROW - 1, theme.axis);
      gray = -1;
      grayEnd = -1;
    };
    for (const box of row) {
      const above = depth <= focus.depth;
      if (above ? !outer.has(box) : box.start + box.node.count <= focus.start || box.start >= end) continue;
      const left = above ? 0 : flameX(scene, box.start);
      const right = above ? width : flameX(scene, box.start + box.node.count);
      if (right - left >= 1) {
        flush();
        drawBox(renderer, scene, box, left, right);
        continue;
      }
      if (gray < 0 || left > grayEnd + 1) {
        flush();
        gray = left;
      }
      grayEnd = right;
    }
    flush();
  }
}

function drawBox(renderer: Renderer, scene: FlameScene, box: FlameBox, left: number, right: number): void {
  const { focus, query, hovered, theme, paint } = scene;
  const top = box.depth * FLAME_ROW;
  const base =
    box.parent === undefined ? theme.axis : (paint?.color(box, theme.scheme) ?? colorOf(box, theme));
  const isFaded = query.trim() !== '' ? !isFound(box.node, query) : box.depth < focus.depth;
  const color = isFaded ? mix(base, theme.ground, 0.3) : base;
  const gap = right - left >= 4 ? 1 : 0;
  renderer.rect(left, top, right - left - gap, FLAME_ROW - 1, color);
  if (hovered === box) renderer.rect(left, top + FLAME_ROW - 3, right - left - gap, 2, theme.ink);
  const visible = Math.max(0, left);
  const space = Math.min(scene.width, right) - visible - 8;
  if (space < MIN_LABEL) return;
  const place = paint?.note(box) ?? placeOf(box.node);
  const text = fitText(renderer, place === '' ? flameName(box) : `${flameName(box)}  ${place}`, space);
  if (text !== '') renderer.text(text, visible + 4, top + FLAME_ROW / 2, textOn(color), 'left');
}

/** Returns a colour per file, which makes calls between files visible. Functions sent as source text have no file. */
function colorOf({ node: { description } }: FlameBox, theme: Theme): string {
  const { filename, name } = description;
  if (/^\(/.test(name)) return theme.axis;
  return slotColor(colorSlot(filename === '' ? name : filename), theme.scheme);
}

/** Returns the box under a point, px. */
export function flameBoxAt(
  scene: Pick<FlameScene, 'layout' | 'focus' | 'width'>,
  x: number,
  y: number,
): FlameBox | undefined {
  const { layout, focus, width } = scene;
  const depth = Math.floor(y / FLAME_ROW);
  if (depth < 0 || depth >= layout.rows.length || x < 0 || x >= width) return undefined;
  if (depth <= focus.depth) {
    let at: FlameBox | undefined = focus;
    while (at !== undefined && at.depth > depth) at = at.parent;
    return at;
  }
  const row = layout.rows[depth]!;
  return row[boxAt(row, focus.start + (x / width) * focus.node.count)];
}
