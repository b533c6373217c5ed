// Everything that can change while the page is open, as signals. Views read them and canvases are redrawn by them; the
// only way to move the window of time is `moveTo`, so that motion has one owner.
import { computed, signal } from '@preact/signals';
import type { CriticalPath } from '../../analysis/criticalPath.js';
import { firstWhere } from '../../base/lookUps.js';
import type { Flows } from '../model/flows.js';
import type { Hit } from '../model/hitTest.js';
import { firstRun, neighbourRun } from '../model/neighbourRun.js';
import type { PlotBox } from '../model/pageLayout.js';
import type { Scheme } from '../model/palette.js';
import type { ProfileModel } from '../model/profileModel.js';
import { findTasks, type Matches } from '../model/search.js';
import { reveal, showsAll, showsEnd, spanOf, type TimeWindow, within } from '../model/timeView.js';

/** What the pointer is over. */
export interface Hover {
  readonly plot: number;
  /** Seconds since the origin. */
  readonly time: number;
  /** px from the top of the plot's drawing. */
  readonly y: number;
  /** In a task stream, what is there. */
  readonly hit: Hit | undefined;
  /** Position in the viewport, for the tooltip. */
  readonly clientX: number;
  readonly clientY: number;
}

/** A hit in a task stream that was clicked. */
export interface Pinned {
  readonly plot: number;
  readonly hit: Hit;
}

/** Share of the way to its target that the window moves per frame of a 60 Hz display. */
const EASE = 0.38;

export class PageState {
  readonly #model;
  readonly scheme = signal<Scheme>('light');
  /** Of the plots with their gutters, px; 0 until the page is laid out. */
  readonly width = signal(0);
  readonly boxes = signal<readonly PlotBox[]>([]);
  /** What is shown now. */
  readonly window = signal<TimeWindow>({ start: 0, stop: 1 });
  readonly hover = signal<Hover | undefined>(undefined);
  /** Range that is being selected, px from the left of the plots. */
  readonly selecting = signal<{ readonly from: number; readonly to: number } | undefined>(undefined);
  readonly pinned = signal<Pinned | undefined>(undefined);
  /** Prefix under the pointer in the legend. */
  readonly pointed = signal<number | undefined>(undefined);
  /** Prefixes that were clicked in the legend. */
  readonly locked = signal<ReadonlySet<number>>(new Set());
  /** The critical path where it is to be drawn over the tasks. */
  readonly path = signal<CriticalPath | undefined>(undefined);
  /** To and from the clicked task, where the trace knows its dependencies. */
  readonly flows = signal<Flows | undefined>(undefined);
  readonly query = signal('');
  /** Shows a match where the page has no task stream; by row of the page's task table. */
  showElsewhere: (task: number) => void = () => {};
  /** Which match was jumped to last; -1 for none. */
  readonly matchIndex = signal(-1);
  readonly helpOpen = signal(false);
  readonly matches = computed<Matches | undefined>(() => findTasks(this.model, this.query.value));
  /** Prefixes to draw in full colour; undefined for all. */
  readonly emphasis = computed<ReadonlySet<number> | undefined>(() => {
    if (this.pointed.value !== undefined) return new Set([this.pointed.value]);
    return this.locked.value.size > 0 ? this.locked.value : undefined;
  });

  #target: TimeWindow;
  /** Time of the last frame of the motion that goes on; undefined at rest. */
  #lastStep: number | undefined;

  constructor(model: ProfileModel) {
    this.#model = signal(model);
    this.#target = model.limits;
    this.window.value = model.limits;
  }

  /** Shows all of another run, of which nothing has been chosen. */
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
    this.moveTo(model.limits, false);
  }

  get model(): ProfileModel {
    return this.#model.value;
  }

  /**
   * Shows another model of the same run: the same one grown, or with other plots. A window that showed all of it, or its
   * end, goes on to do so.
   */
  setModel(model: ProfileModel): void {
    const before = this.#model.peek();
    const { start, stop } = this.#target;
    const all = showsAll(before.limits, this.#target);
    const end = showsEnd(before.limits, this.#target);
    this.#model.value = model;
    this.hover.value = undefined;
    if (all) this.moveTo(model.limits, false);
    else if (end) this.moveTo({ start: start + model.limits.stop - stop, stop: model.limits.stop }, false);
    else this.moveTo(this.#target, false);
  }

  /** Where the window is going: what a further zoom starts from. */
  get target(): TimeWindow {
    return this.#target;
  }

  /** Moves the window, smoothly unless the user's system asks for less motion. */
  moveTo(window: TimeWindow, smooth: boolean): void {
    this.#target = within(this.model.limits, window);
    const still = globalThis.matchMedia('(prefers-reduced-motion: reduce)').matches;
    // Signals compare by identity: even a window that is reached at once must be a new object to be drawn.
    if (!smooth || still) {
      this.window.value = this.#target;
      this.#lastStep = undefined;
    } else this.window.value = { ...this.window.value };
  }

  /** Time 0 went back by so many seconds: what is shown stays the same. */
  shift(seconds: number): void {
    const before = this.#model.peek();
    const limits = { start: before.limits.start + seconds, stop: before.limits.stop + seconds };
    this.#model.value = { ...before, limits };
    const { start, stop } = this.#target;
    this.moveTo({ start: start + seconds, stop: stop + seconds }, false);
  }

  /** One frame of motion. Returns whether the window still moves. */
  step(time: number): boolean {
    const { start, stop } = this.window.value;
    const target = this.#target;
    if (start === target.start && stop === target.stop) return false;
    const elapsed = this.#lastStep === undefined ? 1 : (time - this.#lastStep) / (1000 / 60);
    const frames = Math.min(4, Math.max(0.5, elapsed));
    this.#lastStep = time;
    const share = 1 - (1 - EASE) ** frames;
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

  /** Jumps to the next (1) or previous (-1) match and pins it; who has moved on goes on from what is shown. */
  stepMatch(direction: 1 | -1): void {
    const matches = this.matches.value;
    if (matches === undefined || matches.count === 0) return;
    const index = this.#nextMatch(matches, direction);
    const { plot, position } = matches.inOrder[index]!;
    this.matchIndex.value = index;
    const searched = this.model.searched?.[plot];
    if (searched?.type === 'tasks')
      this.showElsewhere(searched.section.task[searched.lanes.entry[position]!]!);
    else this.pin(plot, { kind: 'run', position });
  }

  #nextMatch({ inOrder, count }: Matches, direction: 1 | -1): number {
    const { start, stop } = this.#target;
    const extentAt = (index: number) => {
      const { plot, position } = inOrder[index]!;
      return this.extentOf({ plot, hit: { kind: 'run', position } });
    };
    const last = this.matchIndex.value;
    const before = last < 0 ? undefined : extentAt(last);
    if (before !== undefined && before.stop >= start && before.start <= stop)
      return (last + direction + count) % count;
    // They stand in order of start.
    const startOf = (index: number) => extentAt(index)?.start ?? 0;
    const next = firstWhere(0, count, (index) =>
      direction === 1 ? startOf(index) >= start : startOf(index) > stop,
    );
    return direction === 1 ? next % count : (next - 1 + count) % count;
  }

  /** The task before (-1) or after (1) the clicked one on its thread; without one, the first or last that is shown. */
  stepRun(direction: 1 | -1): void {
    const pinned = this.pinned.value;
    const plot = pinned?.plot ?? this.model.plots.findIndex(({ type }) => type === 'tasks');
    const shown = this.model.plots[plot];
    if (shown?.type !== 'tasks') return;
    const position =
      pinned?.hit.kind === 'run'
        ? neighbourRun(shown.lanes, pinned.hit.position, direction)
        : firstRun(shown.lanes, this.#target, direction);
    if (position !== undefined) this.pin(plot, { kind: 'run', position });
  }

  /** Shows the clicked task alone, with a margin. */
  zoomToPinned(): void {
    const extent = this.pinned.value === undefined ? undefined : this.extentOf(this.pinned.value);
    if (extent === undefined) return;
    const margin = Math.max(spanOf(extent), 1e-6);
    this.moveTo({ start: extent.start - margin, stop: extent.stop + margin }, true);
  }

  pin(plot: number, hit: Hit): void {
    this.pinned.value = { plot, hit };
    const extent = this.extentOf({ plot, hit });
    if (extent !== undefined)
      this.moveTo(reveal(this.model.limits, this.#target, extent.start, extent.stop), true);
  }

  /** From when to when a hit lasts. */
  extentOf({ plot, hit }: Pinned): TimeWindow | undefined {
    if (hit.kind === 'density') return { start: hit.start, stop: hit.stop };
    const shown = (this.model.searched ?? this.model.plots)[plot];
    if (shown?.type !== 'tasks') return undefined;
    return { start: shown.lanes.start[hit.position]!, stop: shown.lanes.stop[hit.position]! };
  }

  toggleLocked(prefix: number): void {
    const next = new Set(this.locked.value);
    if (!next.delete(prefix)) next.add(prefix);
    this.locked.value = next;
  }

  /** Escape: gives up the last thing that was asked for. */
  dismiss(): void {
    if (this.helpOpen.value) this.helpOpen.value = false;
    else if (this.pinned.value !== undefined) this.pinned.value = undefined;
    else if (this.query.value !== '') this.setQuery('');
    else this.locked.value = new Set();
  }
}
