// The whole page: heading, plots, side bar; keys, colour scheme, and the hooks for tests.
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { AnimationFrames } from '../canvas/animationFrames.js';
import { runKey } from '../canvas/keys.js';
import { columnsOf, Stage } from '../canvas/stage.js';
import { LEFT_GUTTER } from '../model/pageLayout.js';
import { spanOf, type TimeWindow, zoom } from '../model/timeView.js';
import { Heading } from './heading.js';
import { Help } from './help.js';
import type { PageState } from './pageState.js';
import { Plots, sceneOf } from './plots.js';
import { SideBar } from './sideBar.js';
import { Tooltip } from './tooltip.js';

/** What `globalThis.longpole` offers to tests and scripts. */
export interface PageHooks {
  /** Resolves when nothing is moving or waiting to be drawn. */
  idle(): Promise<void>;
  /** Milliseconds of each frame drawn since the last call, at most 240. */
  frameTimes(): number[];
  /** Rectangles in the task streams of the last frame. */
  rectangles(): number;
  /** The shown window, seconds since the first event, and the pixels it is drawn on. */
  view(): TimeWindow & { readonly left: number; readonly columns: number };
  show(start: number, stop: number): void;
}

interface Props {
  readonly state: PageState;
  readonly register: (hooks: PageHooks) => void;
}

export function ProfileApp({ state, register }: Props) {
  const searchBox = useRef<HTMLInputElement>(null);
  const stage = useMemo(() => new Stage(() => state.model), [state]);
  const frames = useMemo(() => new AnimationFrames((time) => drawFrame(state, stage, time)), [state, stage]);
  useEffect(() => followScheme(state), [state]);
  useEffect(() => listenToKeys(state, searchBox), [state]);
  useEffect(() => {
    register({
      idle: () => frames.idle(),
      frameTimes: () => frames.takeTimes(),
      rectangles: () => stage.rectangles,
      view: () => ({ ...state.window.value, left: LEFT_GUTTER, columns: columnsOf(state.width.value) }),
      show: (start, stop) => state.moveTo({ start, stop }, false),
    });
  }, [state, stage, frames, register]);
  return (
    <>
      <Heading state={state} searchBox={searchBox} />
      <main class="body">
        <Plots state={state} stage={stage} frames={frames} />
        <SideBar state={state} />
      </main>
      <Tooltip state={state} />
      <Help state={state} />
    </>
  );
}

function drawFrame(state: PageState, stage: Stage, time: number): boolean {
  const moving = state.step(time);
  const scene = sceneOf(state);
  if (scene !== undefined) stage.draw(scene);
  return moving;
}

/** Follows the system between light and dark. */
export function followScheme(state: PageState): () => void {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const apply = () => {
    state.scheme.value = dark.matches ? 'dark' : 'light';
  };
  apply();
  dark.addEventListener('change', apply);
  return () => dark.removeEventListener('change', apply);
}

/** Whether keys that go there mean letters: in a checkbox they do not. */
function isTyping(target: EventTarget | null): boolean {
  if (target instanceof HTMLInputElement) return target.type !== 'checkbox';
  return target instanceof HTMLSelectElement || target instanceof HTMLTextAreaElement;
}

export function listenToKeys(
  state: PageState,
  searchBox: { readonly current: HTMLInputElement | null },
): () => void {
  const onKey = (event: KeyboardEvent) => {
    if (isTyping(event.target) || (event.target instanceof HTMLButtonElement && event.key === 'Enter'))
      return;
    const used = runKey(event, {
      panShare: (share) => {
        const { start, stop } = state.target;
        const by = share * (stop - start);
        state.moveTo({ start: start + by, stop: stop + by }, true);
      },
      zoomBy: (factor) => {
        const { start } = state.window.value;
        const anchor = state.hover.value?.time ?? start + spanOf(state.window.value) / 2;
        state.moveTo(zoom(state.model.limits, state.target, factor, anchor), true);
      },
      reset: () => state.moveTo(state.model.limits, true),
      search: () => searchBox.current?.select(),
      help: () => {
        state.helpOpen.value = !state.helpOpen.value;
      },
      dismiss: () => state.dismiss(),
      nextMatch: (direction) => state.stepMatch(direction),
      nextRun: (direction) => state.stepRun(direction),
      zoomToRun: () => state.zoomToPinned(),
    });
    if (used) event.preventDefault();
  };
  document.addEventListener('keydown', onKey);
  return () => document.removeEventListener('keydown', onKey);
}
