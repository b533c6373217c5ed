// The state of the page, as signals, and the canvases that show it. Views and canvases are redrawn if a signal that they
// read changes. Only `moveTo` moves the window of time.
import { computed, signal } from '@preact/signals';
import type { CriticalPath } from '../../analysis/criticalPath.js';
import { firstWhere } from '../../base/lookUps.js';
import { AnimationFrames } from '../canvas/animationFrames.js';
import { type Scene, Stage } from '../canvas/stage.js';
import { THEMES } from '../canvas/theme.js';
import type { Flows } from '../model/flows.js';
import type { Hit } from '../model/hitTest.js';
import { firstRun, neighbourRun } from '../model/neighbourRun.js';
import type { PlotBox } from '../model/pageLayout.js';
import type { Scheme } from '../model/palette.js';
import { type ProfileModel, samePrefixes } from '../model/profileModel.js';
import { findTasks, laterMatch, type Matches } from '../model/search.js';
import { pan, reveal, showsAll, showsEnd, spanOf, type TimeWindow, within, zoom } from '../model/timeView.js';

/** Position of the pointer over the plots. */
export interface Hover {
  readonly plot: number;
  /** Seconds since the origin. */
  readonly time: number;
  /** px from the top of the plot's drawing. */
  readonly y: number;
  readonly hit: Hit | undefined;
  /** Position in the viewport, for the tooltip. */
  readonly clientX: number;
  readonly clientY: number;
}

/** Share of the distance to its target by which the window moves in an animation frame at 60 Hz. */
const EASE = 0.38;

export class PageState {
  readonly #model;
  readonly stage = new Stage();
  readonly animationFrames = new AnimationFrames((time) => this.#draw(time));
  readonly scheme = signal<Scheme>('light');
  /** Width of the plots with their gutters, px; 0 before the first layout. */
  readonly width = signal(0);
  readonly boxes = signal<readonly PlotBox[]>([]);
  /** Visible window, which approaches the target of `moveTo`. */
  readonly window = signal<TimeWindow>({ start: 0, stop: 1 });
  readonly hover = signal<Hover | undefined>(undefined);
  /** Range of the selection in progress, px from the left of the plots. */
  readonly selecting = signal<{ readonly from: number; readonly to: number } | undefined>(undefined);
  /** Selected run or pixel of the task stream. */
  readonly pinned = signal<Hit | undefined>(undefined);
  readonly pointed = signal<number | undefined>(undefined);
  /** Prefixes that the user clicked in the legend. */
  readonly locked = signal<ReadonlySet<number>>(new Set());
  readonly path = signal<CriticalPath | undefined>(undefined);
  /** Flows of the selected task, if the trace has its dependencies. */
  readonly flows = signal<Flows | undefined>(undefined);
  readonly query = signal('');
  /** Shows a match on a page without a task stream; by row of the page's task table. */
  showMatch: (task: number) => void = () => {};
  /** Index of the last match that was shown; -1 for none. */
  readonly matchIndex = signal(-1);
  readonly helpOpen = signal(false);
  readonly matches = computed<Matches | undefined>(() => findTasks(this.model, this.query.value));
  /** Prefixes to draw in full colour; undefined for all. */
  readonly emphasis = computed<ReadonlySet<number> | undefined>(() => {
    if (this.pointed.value !== undefined) return new Set([this.pointed.value]);
    return this.locked.value.size > 0 ? this.locked.value : undefined;
  });

  /** Whether the window follows the model, because the user has not moved it. */
  readonly follows = signal(true);
  #target: TimeWindow;
  /** Time of the last animation frame of a motion; undefined without a motion. */
  #lastStep: number | undefined;

  constructor(model: ProfileModel) {
    this.#model = signal(model);
    this.#target = model.limits;
    this.window.value = model.limits;
  }

  /** Shows the whole of another run, without selections. */
  reset(model: ProfileModel): void {
    this.#model.value = model;
    this.hover.value = undefined;
    this.selecting.value = undefined;
    this.pinned.value = undefined;
    this.pointed.value = undefined;
    this.locked.value = new Set();
    this.path.value = undefined;
    this.flows.value = undefined;
    this.setQuery('');
    this.follow(false);
  }

  get model(): ProfileModel {
    return this.#model.value;
  }

  get showsStream(): boolean {
    return this.model.plots.includes(this.model.stream);
  }

  /**
   * Shows another model of the same run, with more rows or other plots. A window that the user has not moved follows the
   * model. A window that showed the whole run, or its end, continues to do so.
   */
  setModel(model: ProfileModel): void {
    const before = this.#model.peek();
    const { start, stop } = this.#target;
    const all = showsAll(before.limits, this.#target);
    const end = showsEnd(before.limits, this.#target);
    const match = this.matches.peek()?.inOrder[this.matchIndex.peek()];
    this.#model.value = model;
    if (match !== undefined) this.matchIndex.value = laterMatch(before, match, model, this.matches.peek());
    this.locked.value = samePrefixes(this.locked.peek(), before, model);
    const pointed = this.pointed.peek();
    if (pointed !== undefined) [this.pointed.value] = samePrefixes(new Set([pointed]), before, model);
    this.hover.value = undefined;
    if (this.follows.value) this.follow(false);
    else if (all) this.#move(model.limits, false);
    else if (end) this.#move({ start: start + model.limits.stop - stop, stop: model.limits.stop }, false);
    else this.#move(this.#target, false);
  }

  /** Shows the window that the model follows, now and after each change of the model. */
  follow(smooth: boolean): void {
    this.follows.value = true;
    this.#move(this.model.followed ?? this.model.limits, smooth);
  }

  /** Window at the end of the current motion, from which the next zoom starts. */
  get target(): TimeWindow {
    return this.#target;
  }

  /**
   * Moves the window, which then does not follow the model any more. The motion is smooth if `smooth` is set and the user's
   * system does not request reduced motion.
   */
  moveTo(window: TimeWindow, smooth: boolean): void {
    this.follows.value = false;
    this.#move(window, smooth);
  }

  /** Moves the window, to later times for positive `seconds`. */
  panBy(seconds: number, smooth: boolean): void {
    this.moveTo(pan(this.model.limits, this.#target, seconds), smooth);
  }

  /** Zooms around a time, by default the middle; `factor` < 1 zooms in. */
  zoomBy(factor: number, anchor = this.#target.start + spanOf(this.#target) / 2, smooth = true): void {
    this.moveTo(zoom(this.model.limits, this.#target, factor, anchor), smooth);
  }

  showAll(): void {
    this.moveTo(this.model.limits, true);
  }

  #move(window: TimeWindow, smooth: boolean): void {
    this.#target = within(this.model.limits, window);
    const still = globalThis.matchMedia('(prefers-reduced-motion: reduce)').matches;
    // Signals compare by identity, so a new object is needed for the page to be drawn.
    if (!smooth || still) {
      this.window.value = this.#target;
      this.#lastStep = undefined;
    } else this.window.value = { ...this.window.value };
  }

  /** Keeps the visible part of the run after time 0 has moved back by some seconds. */
  shift(seconds: number): void {
    const before = this.#model.peek();
    const limits = { start: before.limits.start + seconds, stop: before.limits.stop + seconds };
    this.#model.value = { ...before, limits };
    const { start, stop } = this.#target;
    this.#move({ start: start + seconds, stop: stop + seconds }, false);
  }

  /** Content of the next animation frame; undefined before the first layout. */
  get scene(): Scene | undefined {
    if (this.width.value === 0) return undefined;
    return {
      model: this.model,
      window: this.window.value,
      width: this.width.value,
      boxes: this.boxes.value,
      theme: THEMES[this.scheme.value],
      emphasis: this.emphasis.value,
      path: this.path.value,
      matches: this.matches.value,
      flows: this.flows.value,
    };
  }

  #draw(time: number): boolean {
    const isMoving = this.#step(time);
    const { scene } = this;
    if (scene !== undefined) this.stage.draw(scene);
    return isMoving;
  }

  /** Moves the window for one animation frame. Returns whether the motion continues. */
  #step(time: number): boolean {
    const { start, stop } = this.window.value;
    const target = this.#target;
    if (start === target.start && stop === target.stop) return false;
    const elapsed = this.#lastStep === undefined ? 1 : (time - this.#lastStep) / (1000 / 60);
    const animationFrames = Math.min(4, Math.max(0.5, elapsed));
    this.#lastStep = time;
    const share = 1 - (1 - EASE) ** animationFrames;
    const next = { start: start + (target.start - start) * share, stop: stop + (target.stop - stop) * share };
    const near = spanOf(target) * 5e-4;
    const there = Math.abs(next.start - target.start) < near && Math.abs(next.stop - target.stop) < near;
    this.window.value = there ? target : next;
    if (there) this.#lastStep = undefined;
    return !there;
  }

  setQuery(query: string): void {
    this.query.value = query;
    this.matchIndex.value = -1;
  }

  /**
   * Pins the next (1) or previous (-1) match. If the last match is outside the window, the search restarts at the
   * window.
   */
  stepMatch(direction: 1 | -1): void {
    const matches = this.matches.value;
    if (matches === undefined || matches.count === 0) return;
    const index = this.#nextMatch(matches, direction);
    const match = matches.inOrder[index]!;
    this.matchIndex.value = index;
    if ('position' in match && this.showsStream) this.pin({ kind: 'run', position: match.position });
    else this.showMatch(match.task);
  }

  #nextMatch({ inOrder, count }: Matches, direction: 1 | -1): number {
    const { start, stop } = this.#target;
    const extentAt = (index: number) => {
      const match = inOrder[index]!;
      return 'position' in match ? this.extentOf({ kind: 'run', position: match.position }) : undefined;
    };
    const last = this.matchIndex.value;
    const before = last < 0 ? undefined : extentAt(last);
    const isShown = before === undefined || (before.stop >= start && before.start <= stop);
    if (last >= 0 && isShown) return (last + direction + count) % count;
    // Runs are in order of start, before tasks without a run.
    const startOf = (index: number) => extentAt(index)?.start ?? Number.POSITIVE_INFINITY;
    const next = firstWhere(0, count, (index) =>
      direction === 1 ? startOf(index) >= start : startOf(index) > stop,
    );
    return direction === 1 ? next % count : (next - 1 + count) % count;
  }

  /** Pins the task before (-1) or after (1) the selected task on its thread, or the last or first visible task. */
  stepRun(direction: 1 | -1): void {
    if (!this.showsStream) return;
    const { lanes } = this.model.stream;
    const pinned = this.pinned.value;
    const position =
      pinned?.kind === 'run'
        ? neighbourRun(lanes, pinned.position, direction)
        : firstRun(lanes, this.#target, direction);
    if (position !== undefined) this.pin({ kind: 'run', position });
  }

  /** Zooms to the selected task with a margin. */
  zoomToPinned(): void {
    if (this.pinned.value === undefined) return;
    const extent = this.extentOf(this.pinned.value);
    const margin = Math.max(spanOf(extent), 1e-6);
    this.moveTo({ start: extent.start - margin, stop: extent.stop + margin }, true);
  }

  pin(hit: Hit): void {
    this.pinned.value = hit;
    const { start, stop } = this.extentOf(hit);
    this.moveTo(reveal(this.model.limits, this.#target, start, stop), true);
  }

  extentOf(hit: Hit): TimeWindow {
    if (hit.kind === 'density') return hit;
    const { start, stop } = this.model.stream.lanes;
    return { start: start[hit.position]!, stop: stop[hit.position]! };
  }

  toggleLocked(prefix: number): void {
    const next = new Set(this.locked.value);
    if (!next.delete(prefix)) next.add(prefix);
    this.locked.value = next;
  }

  /** Handles Escape: closes the help, the selection or the search, or releases the prefixes, in this order. */
  dismiss(): void {
    if (this.helpOpen.value) this.helpOpen.value = false;
    else if (this.pinned.value !== undefined) this.pinned.value = undefined;
    else if (this.query.value !== '') this.setQuery('');
    else this.locked.value = new Set();
  }
}
