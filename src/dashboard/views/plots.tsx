// The plots of a page: an overview of the whole run, the time axis, and below them all plots on the same time axis. The
// component lays out the plots, passes canvases to the stage, and applies gestures to the state.
import { effect } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useContext, useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { laneAt, laneBox } from '../canvas/drawTasks.js';
import { type GestureHandler, listen } from '../canvas/gestures.js';
import { axisOf, columnsOf } from '../canvas/stage.js';
import { type Hit, hitLane } from '../model/hitTest.js';
import {
  HEADING,
  LEFT_GUTTER,
  layoutPlots,
  OVERVIEW_HEIGHT,
  type PlotBox,
  RULER_HEIGHT,
} from '../model/pageLayout.js';
import { laneOfPosition, totalHeight } from '../model/taskLanes.js';
import { idleLabel, preciseTime } from '../model/ticks.js';
import { columnAtTime, partAt, type TimeAxis, timeAtColumn } from '../model/timeAxis.js';
import { spanOf } from '../model/timeView.js';
import { IndividualContext } from './individual.js';
import { followPixelRatio } from './pageInput.js';
import type { Hover, PageState } from './pageState.js';
import { set } from './parts.js';
import { PlotHeading, plotSummary } from './plotHeading.js';

interface Props {
  readonly state: PageState;
  readonly streamNote?: ComponentChildren;
}

export function Plots({ state, streamNote }: Props) {
  const individual = useContext(IndividualContext);
  const scroller = useRef<HTMLElement>(null);
  const surface = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => followSize(state, scroller.current), [state, state.model]);
  // A change of any signal that `scene` reads requests an animation frame.
  useEffect(() => effect(() => void (state.scene === undefined || state.animationFrames.request())), [state]);
  useEffect(() => followPixelRatio(() => state.animationFrames.request()), [state]);
  useEffect(() => {
    const element = surface.current;
    return element === null ? undefined : listen(element, gestureHandler(state, element));
  }, [state, state.model.plots.length === 0]);
  if (individual?.panels !== undefined) return null;
  if (state.model.plots.length === 0) return <NothingToShow isIndividual={individual !== undefined} />;
  const boxes = state.boxes.value;
  return (
    <section ref={scroller} class="plots" aria-label="Plots, on one time axis">
      <OverviewStrip state={state} />
      <div ref={surface} class="surface">
        {state.model.plots.map((plot, index) => {
          const box = boxes[index];
          const { title, description, empty } = plotSummary(state, plot);
          return (
            <section key={index} class="plot" aria-label={title}>
              <PlotHeading state={state} plot={plot} streamNote={streamNote} />
              <div class="drawing" style={{ height: `${box?.height ?? 0}px` }}>
                <canvas
                  ref={(canvas) => {
                    if (canvas !== null) state.stage.setPlot(index, canvas);
                  }}
                  role="img"
                  aria-label={description}
                />
                {empty === undefined ? null : <p class="empty">{empty}</p>}
                {plot === state.model.stream && box !== undefined ? (
                  <Outlines state={state} box={box} />
                ) : null}
              </div>
            </section>
          );
        })}
        <Crosshair state={state} />
        <Selection state={state} />
      </div>
    </section>
  );
}

function followSize(state: PageState, scroller: HTMLElement | null): (() => void) | undefined {
  if (scroller === null) return undefined;
  const lanes = state.model.plots.map((plot) => {
    return plot.type === 'tasks' ? totalHeight(plot.lanes) : 0;
  });
  const measure = () => {
    const { boxes } = layoutPlots(lanes, scroller.clientHeight - OVERVIEW_HEIGHT - RULER_HEIGHT);
    state.boxes.value = boxes;
    state.width.value = scroller.clientWidth;
  };
  measure();
  const observer = new ResizeObserver(measure);
  observer.observe(scroller);
  return () => observer.disconnect();
}

function gestureHandler(state: PageState, surface: HTMLElement): GestureHandler {
  const columns = () => columnsOf(state.width.value);
  const perPixel = () => spanOf(state.window.value) / columns();
  const timeAt = (x: number) => timeAtColumn(shownAxis(state), x - LEFT_GUTTER);
  return {
    takesWheel: (x) => x >= LEFT_GUTTER && x < LEFT_GUTTER + columns(),
    dragBy: (px) => state.panBy(-px * perPixel(), false),
    scrollBy: (px) => state.panBy(px * perPixel(), false),
    zoomAt: (x, factor, smooth) => state.zoomBy(factor, timeAt(x), smooth),
    selecting: (range) => {
      state.selecting.value = range;
    },
    selected: (from, to) => state.moveTo({ start: timeAt(from), stop: timeAt(to) }, true),
    hover: (x, y) => {
      state.hover.value = hoverAt(state, surface, x, y);
    },
    leave: set(state.hover, undefined),
    click: (x, y) => {
      state.pinned.value = hoverAt(state, surface, x, y)?.hit;
    },
    doubleClick: () => state.showAll(),
  };
}

function shownAxis({ model, window, width }: PageState): TimeAxis {
  return axisOf(model, window.value, width.value);
}

/** Returns the hover at a point of the surface; undefined outside the plots. */
function hoverAt(state: PageState, surface: HTMLElement, x: number, y: number): Hover | undefined {
  const columns = columnsOf(state.width.value);
  if (x < LEFT_GUTTER || x >= LEFT_GUTTER + columns) return undefined;
  const axis = shownAxis(state);
  const column = x - LEFT_GUTTER;
  const part = partAt(axis, column);
  const plot = state.boxes.value.findIndex((box) => y >= box.top && y < box.top + HEADING + box.height);
  const box = state.boxes.value[plot];
  const edge = surface.getBoundingClientRect();
  const inPlot = box === undefined ? -1 : y - box.top - HEADING;
  const shown = state.model.plots[plot];
  const lane = shown?.type === 'tasks' && box !== undefined ? laneAt(shown.lanes, inPlot, box.height) : -1;
  return {
    plot,
    time: timeAtColumn(axis, column),
    y: inPlot,
    hit:
      shown?.type === 'tasks' && lane >= 0 && part !== undefined
        ? hitLane(shown.lanes, lane, part, column - part.left)
        : undefined,
    clientX: edge.left + x,
    clientY: edge.top + y,
  };
}

interface OutlinesProps {
  readonly state: PageState;
  /** Box of the task stream. */
  readonly box: PlotBox;
}

function Outlines({ state, box }: OutlinesProps) {
  const hovered = state.hover.value?.hit;
  const pinned = state.pinned.value;
  return (
    <>
      {pinned === undefined ? null : <Outline state={state} box={box} hit={pinned} kind="pinned" />}
      {hovered === undefined ? null : <Outline state={state} box={box} hit={hovered} kind="hovered" />}
    </>
  );
}

interface OutlineProps extends OutlinesProps {
  readonly hit: Hit;
  readonly kind: string;
}

function Outline({ state, box, hit, kind }: OutlineProps) {
  const { lanes } = state.model.stream;
  const extent = state.extentOf(hit);
  const lane = hit.kind === 'density' ? hit.lane : laneOfPosition(lanes, hit.position);
  const { top, height } = laneBox(lanes, lane, box.height);
  const axis = shownAxis(state);
  const from = Math.max(0, Math.round(columnAtTime(axis, extent.start)));
  const to = Math.min(axis.columns, Math.round(columnAtTime(axis, extent.stop)));
  if (to < 0 || from > axis.columns) return null;
  const width = Math.max(2, to - from);
  const style = {
    left: `${LEFT_GUTTER + from}px`,
    top: `${top}px`,
    width: `${width}px`,
    height: `${height}px`,
  };
  return <div class={`outline ${kind}`} style={style} />;
}

/** A vertical line through all plots at the pointer's time. */
function Crosshair({ state }: { readonly state: PageState }) {
  const hover = state.hover.value;
  if (hover === undefined) return null;
  const x = LEFT_GUTTER + Math.round(columnAtTime(shownAxis(state), hover.time));
  return <div class="crosshair" style={{ left: `${x}px` }} />;
}

function Selection({ state }: { readonly state: PageState }) {
  const range = state.selecting.value;
  if (range === undefined) return null;
  const columns = columnsOf(state.width.value);
  const inside = (x: number) => Math.min(LEFT_GUTTER + columns, Math.max(LEFT_GUTTER, x));
  const from = inside(Math.min(range.from, range.to));
  const to = inside(Math.max(range.from, range.to));
  const axis = shownAxis(state);
  const seconds = timeAtColumn(axis, to - LEFT_GUTTER) - timeAtColumn(axis, from - LEFT_GUTTER);
  return (
    <div class="selection" style={{ left: `${from}px`, width: `${to - from}px` }}>
      <span>{preciseTime(seconds, seconds)}</span>
    </div>
  );
}

function NothingToShow({ isIndividual }: { readonly isIndividual: boolean }) {
  if (isIndividual)
    return (
      <section class="plots nothing">
        <p>The trace has no rows for this plot.</p>
      </section>
    );
  return (
    <section class="plots nothing">
      <h2>Nothing was recorded</h2>
      <p>
        Pass at least one profiler to <code>visualize</code>. Activate the profiler before you call{' '}
        <code>compute</code> or <code>get</code>: <code>using prof = new Profiler()</code>.
      </p>
    </section>
  );
}

/** The overview of the whole run above the time axis. Dragging selects a window, or moves the window under the pointer. */
function OverviewStrip({ state }: { readonly state: PageState }) {
  const overview = useRef<HTMLCanvasElement>(null);
  const ruler = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    if (overview.current === null || ruler.current === null) return undefined;
    state.stage.setStrip(overview.current, ruler.current);
    return brush(state, overview.current);
  }, [state]);
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

function axisLabel(state: PageState): string {
  const folded = shownAxis(state).breaks.map(idleLabel);
  return folded.length === 0 ? 'Time axis' : `Time axis, without ${folded.join(', ')}`;
}

/** Shows the pointer's time on the time axis. */
function RulerTime({ state }: { readonly state: PageState }) {
  const hover = state.hover.value;
  if (hover === undefined) return null;
  const x = LEFT_GUTTER + columnAtTime(shownAxis(state), hover.time);
  return (
    <span class="ruler-time" style={{ left: `${Math.round(x)}px` }}>
      {preciseTime(hover.time, spanOf(state.window.value))}
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
