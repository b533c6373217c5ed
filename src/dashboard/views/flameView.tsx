// The flame graph: a canvas with the functions, details of the function under the pointer or the keyboard focus, and a
// button that resets the zoom. The callers define details and colours, for profiles and for differences of profiles.
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { drawFlame, type FlamePaint, flameBoxAt, flameHeight, flameName } from '../canvas/drawFlame.js';
import { CanvasRenderer } from '../canvas/renderer.js';
import { THEMES } from '../canvas/theme.js';
import {
  boxOfPath,
  type FlameBox,
  type FlameLayout,
  pathOf,
  placeOf,
  stepFrom,
} from '../model/flameLayout.js';
import type { Scheme } from '../model/palette.js';
import { useWidth } from './graphView.js';
import { followPixelRatio } from './pageInput.js';
import { Button } from './parts.js';

interface Props {
  readonly layout: FlameLayout;
  /** Identifiers of the functions from the outermost to the zoomed function. */
  readonly path: readonly string[];
  readonly onPath: (path: readonly string[]) => void;
  readonly query: string;
  readonly scheme: Scheme;
  readonly details: (box: FlameBox) => ComponentChildren;
  readonly paint?: FlamePaint;
}

export function FlameView({ layout, path, onPath, query, scheme, details, paint }: Props) {
  const scroller = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const renderer = useRef<CanvasRenderer | undefined>(undefined);
  const width = useWidth(scroller);
  const [hovered, setHovered] = useState<FlameBox | undefined>(undefined);
  const focus = boxOfPath(layout, path);
  const [, setRatio] = useState(0);
  useEffect(() => setHovered(undefined), [layout]);
  useEffect(() => followPixelRatio(() => setRatio(devicePixelRatio)), []);
  useLayoutEffect(() => {
    if (canvas.current === null || width === 0) return;
    renderer.current ??= new CanvasRenderer(canvas.current);
    drawFlame(renderer.current, { layout, focus, query, hovered, width, theme: THEMES[scheme], paint });
  });
  const boxOf = (event: MouseEvent) => flameBoxAt({ layout, focus, width }, event.offsetX, event.offsetY);
  const shown = hovered ?? focus;
  const onKey = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const next = stepFrom(layout, shown, event.key);
    if (next !== undefined) setHovered(next);
    else if (event.key === 'Enter' || event.key === ' ') onPath(pathOf(shown));
    else if (event.key === 'Escape' && path.length > 0) onPath(path.slice(0, -1));
    else if (event.key === 'Home') onPath([]);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <>
      <div
        ref={scroller}
        class="flame-scroll"
        role="application"
        aria-label="Arrow keys move between functions, Enter zooms in, Escape zooms out"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: keys move inside it
        tabIndex={0}
        onKeyDown={onKey}
      >
        <canvas
          ref={canvas}
          role="img"
          aria-label={`Flame graph: the time of functions on the stack, ${layout.rows.length - 1} levels deep. The table lists the same functions.`}
          style={{ width: `${width}px`, height: `${flameHeight(layout)}px` }}
          onPointerMove={(event) => setHovered(boxOf(event))}
          onPointerLeave={() => setHovered(undefined)}
          onClick={(event) => {
            const box = boxOf(event);
            if (box !== undefined) onPath(pathOf(box));
          }}
        />
      </div>
      <p class="flame-line" aria-live="polite">
        <b>{flameName(shown)}</b>
        <span class="code muted">{placeOf(shown.node)}</span>
        <span class="number">{details(shown)}</span>
        {path.length === 0 ? null : <Button text="Show all" class="quiet" onClick={() => onPath([])} />}
      </p>
    </>
  );
}
