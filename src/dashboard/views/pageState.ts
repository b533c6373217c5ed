// Everything that can change while the page is open, as signals. Views read them and canvases are redrawn by them; the
// only way to move the window of time is `moveTo`, so that motion has one owner.
import { computed, signal } from '@preact/signals';
import type { Hit } from '../model/hitTest.js';
import type { PlotBox } from '../model/layout.js';
import type { Scheme } from '../model/palette.js';
import type { ProfileModel } from '../model/profileModel.js';
import { findTasks, type Matches } from '../model/search.js';
import { reveal, spanOf, type TimeWindow, within } from '../model/timeView.js';

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
  readonly model: ProfileModel;
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
  readonly query = signal('');
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
    this.model = model;
    this.#target = model.limits;
    this.window.value = model.limits;
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

  /** Jumps to the next (1) or previous (-1) match and pins it. */
  stepMatch(direction: 1 | -1): void {
    const matches = this.matches.value;
    if (matches === undefined || matches.count === 0) return;
    const from = this.matchIndex.value === -1 && direction === -1 ? 0 : this.matchIndex.value;
    const index = (from + direction + matches.count) % matches.count;
    const { plot, position } = matches.inOrder[index]!;
    this.matchIndex.value = index;
    this.pin(plot, { kind: 'run', position });
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
    const shown = this.model.plots[plot];
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
