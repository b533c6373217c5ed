// The overview of the whole run above the time axis. Dragging selects a window, or moves the window under the pointer.
import { useEffect, useRef } from 'preact/hooks';
import { axisOf, columnsOf, type Stage } from '../canvas/stage.js';
import { LEFT_GUTTER, OVERVIEW_HEIGHT, RULER_HEIGHT } from '../model/pageLayout.js';
import { idleLabel, preciseTime } from '../model/ticks.js';
import { columnAtTime, timeAtColumn } from '../model/timeAxis.js';
import { spanOf } from '../model/timeView.js';
import type { PageState } from './pageState.js';

export function OverviewStrip({ state, stage }: { readonly state: PageState; readonly stage: Stage }) {
  const overview = useRef<HTMLCanvasElement>(null);
  const ruler = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    if (overview.current === null || ruler.current === null) return undefined;
    stage.setStrip(overview.current, ruler.current);
    return brush(state, overview.current);
  }, [state, stage]);
  return (
    <div class="strip">
      <span class="strip-name">Whole run</span>
      <canvas
        ref={overview}
        role="img"
        aria-label="The whole run: the share of busy workers, and the range that the plots show"
        style={{ height: `${OVERVIEW_HEIGHT}px` }}
      />
      <canvas ref={ruler} role="img" aria-label={axisLabel(state)} style={{ height: `${RULER_HEIGHT}px` }} />
      <RulerTime state={state} />
    </div>
  );
}

function axisLabel({ model, window, width }: PageState): string {
  const folded = axisOf(model, window.value, width.value).breaks.map(idleLabel);
  return folded.length === 0 ? 'Time axis' : `Time axis, without ${folded.join(', ')}`;
}

/** Shows the pointer's time on the time axis. */
function RulerTime({ state }: { readonly state: PageState }) {
  const hover = state.hover.value;
  if (hover === undefined) return null;
  const window = state.window.value;
  const x = LEFT_GUTTER + columnAtTime(axisOf(state.model, window, state.width.value), hover.time);
  return (
    <span class="ruler-time" style={{ left: `${Math.round(x)}px` }}>
      {preciseTime(hover.time, spanOf(window))}
    </span>
  );
}

/** Largest movement of a click, which moves the window to the pointer, px. */
const SLOP = 4;

function brush(state: PageState, canvas: HTMLCanvasElement): () => void {
  const limitsOf = () => state.model.limits;
  const controller = new AbortController();
  const { signal } = controller;
  let from: number | undefined;
  let grabbed: number | undefined;
  const timeAt = (event: PointerEvent) => {
    const x = event.clientX - canvas.getBoundingClientRect().left - LEFT_GUTTER;
    return timeAtColumn(axisOf(state.model, limitsOf(), state.width.value), x);
  };
  const slop = () => (SLOP / columnsOf(state.width.value)) * spanOf(limitsOf());
  canvas.addEventListener(
    'pointerdown',
    (event) => {
      canvas.setPointerCapture(event.pointerId);
      const time = timeAt(event);
      const { start, stop } = state.target;
      const inside = time >= start && time <= stop && stop - start < spanOf(limitsOf()) * 0.98;
      if (inside) grabbed = time - start;
      else from = time;
    },
    { signal },
  );
  canvas.addEventListener(
    'pointermove',
    (event) => {
      const time = timeAt(event);
      if (grabbed !== undefined) {
        const start = time - grabbed;
        state.moveTo({ start, stop: start + spanOf(state.target) }, false);
      } else if (from !== undefined && Math.abs(time - from) > slop()) {
        state.moveTo({ start: Math.min(from, time), stop: Math.max(from, time) }, false);
      }
    },
    { signal },
  );
  const end = (event: PointerEvent) => {
    const time = timeAt(event);
    if (from !== undefined && Math.abs(time - from) <= slop()) {
      const half = spanOf(state.target) / 2;
      state.moveTo({ start: time - half, stop: time + half }, true);
    }
    from = undefined;
    grabbed = undefined;
  };
  canvas.addEventListener('pointerup', end, { signal });
  canvas.addEventListener('pointercancel', end, { signal });
  return () => controller.abort();
}
