// The live stream of one cluster. Rows are encoded once, and every page receives the same bytes. Without pages nothing
// is encoded. A page that is too slow is skipped and catches up later. While the scheduler is busy, rows are delayed,
// so that they cost only a small share of its time. Sums are always current.

import { randomUUID } from 'node:crypto';
import { sentenceOf } from '../base/errors.js';
import {
  type BeginMessage,
  encodeViewMessage,
  type ResumePoint,
  type TotalsMessage,
  VIEW_VERSION,
  type ViewCursor,
} from '../protocol/viewMessages.js';
import { BEGINNING, cursorOf, isAt, RowFeed, resumeCursor } from './catchUp.js';
import { opening } from './opening.js';
import { type Outgoing, Outlet, type OutletSocket, type ViewerLimits } from './outlet.js';
import { Pace } from './pace.js';
import type { LiveSource } from './source.js';
import { liveSums } from './sums.js';

/** Totals are sent at every second tick; sums and rows of all tables but tasks, which are few, at every fourth. */
const TOTALS_EVERY = 2;
const OTHERS_EVERY = 4;
/** Milliseconds for which the load of the thread is measured before rows are sent. */
const PROBE_MS = 10;
/**
 * Share of the time that rows may cost while tasks run. Above it, rows are collected into fewer messages, because every
 * message has a fixed cost.
 */
const ROWS_SHARE = 0.01;
/** Milliseconds after which rows are sent in any case. */
const LONGEST_WAIT = 250;
/** Number of rows up to which rows are sent at once. */
const FEW_ROWS = 500;

/**
 * - `catching-up`: receives past rows.
 * - `live`: receives the rows that all live pages receive.
 * - `behind`: receives nothing until it has read what was sent.
 * - `paused`: receives nothing until the page resumes.
 */
type ViewerState = 'catching-up' | 'live' | 'behind' | 'paused';

interface Viewer {
  readonly outlet: Outlet;
  state: ViewerState;
  /** Position up to which all rows were sent. */
  cursor: ViewCursor;
  /** Contents that were sent last. A skipped page may lack newer ones. */
  readonly sent: Record<Figures, string>;
}

/** Figures that are sent whole after a change. */
type Figures = 'totals' | 'sums';

interface FiguresText {
  /** Message without the time. Equal contents are the same string object, so that comparisons are cheap. */
  readonly content: string;
  readonly message: string;
}

/** The rows that all live pages receive. */
interface Shared {
  readonly feed: RowFeed;
  /** Pieces that are being sent; undefined if all rows before the feed's cursor were sent. */
  pieces: Outgoing | undefined;
}

export interface ViewerHandle {
  pause(): void;
  resume(): void;
  leave(): void;
}

export class LiveHub {
  readonly #source: LiveSource;
  readonly #limits: ViewerLimits;
  readonly #epoch = randomUUID();
  readonly #viewers = new Set<Viewer>();
  readonly #pace: Pace;
  #shared: Shared | undefined;
  #timer: NodeJS.Timeout | undefined;
  #soon: NodeJS.Timeout | undefined;
  #ticks = 0;
  /** Tick at which rows of all tables but tasks were sent last. */
  #othersAt = 0;
  /** Earliest time for the next rows, milliseconds of `performance.now()`. */
  #rowsFrom = 0;
  /** Contents that were made last. */
  readonly #made: Record<Figures, string> = { totals: '', sums: '' };

  /** Why the run is over; undefined before its end. */
  #over: string | undefined;

  constructor(source: LiveSource, limits: ViewerLimits) {
    this.#source = source;
    this.#limits = limits;
    this.#pace = new Pace(limits.intervalMs);
  }

  /** Adds a page and starts to send rows to it, from its resume point if that is valid. */
  add(socket: OutletSocket, from: ResumePoint | undefined): ViewerHandle {
    const cursor = resumeCursor(this.#source.trace, this.#epoch, from);
    const [totals, sums] = [this.#figures('totals'), this.#figures('sums')];
    const viewer: Viewer = {
      outlet: new Outlet(socket, this.#limits, this.#pace),
      state: 'catching-up',
      cursor: cursor ?? BEGINNING,
      sent: { totals: totals.content, sums: sums.content },
    };
    this.#viewers.add(viewer);
    viewer.outlet.send(...opening(this.#begin(cursor !== undefined)), totals.message, sums.message);
    this.#catchUp(viewer);
    this.#timer ??= setInterval(() => this.#probe(), this.#limits.intervalMs).unref();
    return {
      pause: () => {
        // A page that received everything stays connected, and must not begin again when it resumes.
        if (!this.#viewers.has(viewer)) return;
        viewer.outlet.stop();
        viewer.state = 'paused';
      },
      resume: () => {
        if (viewer.state === 'paused') this.#resume(viewer);
      },
      leave: () => this.#leave(viewer),
    };
  }

  #begin(resumed: boolean): Omit<BeginMessage, 'type' | 'version'> {
    const { title, facts } = this.#source;
    return { source: 'live', title, facts, epoch: this.#epoch, resumed, damage: null };
  }

  /** Sends the last rows and the reason to all pages, and removes the pages. */
  close(reason: string): void {
    this.#flush(() => true, cursorOf(this.#source.trace));
    const figures = [this.#figures('totals').message, this.#figures('sums').message];
    const end = cursorOf(this.#source.trace);
    for (const viewer of this.#viewers) {
      const { outlet } = viewer;
      outlet.stop();
      this.#sendRemaining(viewer, end);
      const complete = isAt(viewer.cursor, end);
      if (complete) outlet.send(...figures);
      outlet.send(encodeViewMessage({ type: 'closed', reason, complete }));
    }
    this.#viewers.clear();
    this.#sleep();
  }

  /**
   * Sends all rows and the reason to each page, now, when it has read what was sent or resumes, or when it is added. The trace must
   * not change any more.
   */
  end(reason: string): void {
    this.#flush(() => true, cursorOf(this.#source.trace));
    this.#over = reason;
    for (const viewer of this.#viewers) if (viewer.state === 'live') this.#goLive(viewer);
  }

  /** Sends the remaining rows to a page that was catching up when the run ended. */
  #sendRemaining(viewer: Viewer, end: ViewCursor): void {
    const { outlet, state, cursor } = viewer;
    if (state === 'live' || state === 'paused' || outlet.isFull) return;
    outlet.send(encodeViewMessage({ type: 'begin', version: VIEW_VERSION, ...this.#begin(true) }));
    const feed = new RowFeed(this.#source.trace, cursor);
    for (const messages of feed.pieces(this.#limits.maxCatchUp, () => end)) outlet.send(...messages);
    viewer.cursor = feed.cursor;
  }

  /** Returns the position of the live pages, or the end of the trace if no page is live. */
  #end(): ViewCursor {
    return this.#shared?.feed.cursor ?? cursorOf(this.#source.trace);
  }

  #catchUp(viewer: Viewer): void {
    viewer.state = 'catching-up';
    const feed = new RowFeed(this.#source.trace, viewer.cursor);
    const pieces = feed.pieces(this.#limits.maxCatchUp, () => this.#end());
    viewer.outlet.stream(following(pieces, viewer, feed), () => this.#goLive(viewer));
  }

  /**
   * Continues to send rows to a page. The `begin` message makes the page discard an incomplete piece. Figures that have
   * changed are sent at one of the next ticks.
   */
  #resume(viewer: Viewer): void {
    viewer.outlet.send(encodeViewMessage({ type: 'begin', version: VIEW_VERSION, ...this.#begin(true) }));
    this.#catchUp(viewer);
  }

  /** Makes a page live that has all rows of the live pages, unless a piece is being sent: then after this piece. */
  #goLive(viewer: Viewer): void {
    if (this.#over !== undefined) {
      const closed = encodeViewMessage({ type: 'closed', reason: this.#over, complete: true });
      viewer.outlet.send(this.#figures('totals').message, this.#figures('sums').message, closed);
      this.#leave(viewer);
      return;
    }
    if (this.#shared === undefined)
      this.#shared = { feed: new RowFeed(this.#source.trace, viewer.cursor, true), pieces: undefined };
    if (this.#shared.pieces !== undefined) return;
    // The page received only the stack frames of its own rows.
    this.#shared.feed.repeatFrames();
    viewer.state = 'live';
  }

  #leave(viewer: Viewer): void {
    viewer.outlet.stop();
    this.#viewers.delete(viewer);
    if (this.#viewers.size === 0) this.#sleep();
  }

  /** Stops all work until a page is added. */
  #sleep(): void {
    clearInterval(this.#timer);
    clearTimeout(this.#soon);
    this.#timer = undefined;
    this.#soon = undefined;
    this.#shared = undefined;
  }

  /** Measures the load of the thread for some milliseconds before the next tick. */
  #probe(): void {
    this.#pace.probe();
    const { intervalMs } = this.#limits;
    this.#soon ??= setTimeout(() => this.#guardedTick(), Math.min(PROBE_MS, intervalMs / 4)).unref();
  }

  /** Runs a tick. An error of the dashboard must not end the watched program. */
  #guardedTick(): void {
    this.#soon = undefined;
    try {
      this.#tick();
    } catch (error) {
      this.#sleep();
      const reason = `The dashboard has failed, and the program continues: ${sentenceOf(error)} Please report this message.`;
      const closed = encodeViewMessage({ type: 'closed', reason, complete: false });
      for (const { outlet } of this.#viewers) outlet.send(closed);
      this.#viewers.clear();
      process.emitWarning(reason, 'LongpoleWarning');
    }
  }

  #tick(): void {
    this.#ticks++;
    this.#sendRows();
    for (const viewer of this.#viewers) this.#attend(viewer);
    if (this.#count('live') === 0) this.#shared = undefined;
    if (this.#count('paused') === this.#viewers.size) return;
    const watch = this.#stopwatch();
    if (this.#ticks % TOTALS_EVERY === 0) this.#sendFigures('totals');
    if (this.#ticks % OTHERS_EVERY === 0) this.#sendFigures('sums');
    this.#pace.spend(watch());
  }

  /**
   * Returns a function that gives the CPU milliseconds of this thread since its last call, or wall time if CPU is
   * unknown.
   */
  #stopwatch(): () => number {
    const cpu = this.#source.cpuClock();
    const read = (): number => (cpu === undefined ? performance.now() : cpu() * 1000);
    let last = read();
    return () => {
      const now = read();
      const passed = now - last;
      last = now;
      return passed;
    };
  }

  #sendRows(): void {
    const before = performance.now();
    const isComputing = this.#source.isComputing();
    const waiting = this.#source.trace.cursor.tasks - (this.#shared?.feed.cursor.tasks ?? 0);
    if (isComputing && waiting > FEW_ROWS && before < this.#rowsFrom) return;
    this.#pace.refill(isComputing, this.#viewers.size);
    const watch = this.#stopwatch();
    this.#flush(() => this.#pace.hasTime, this.#due());
    const cost = watch();
    // A timer is a little early or late.
    const wait = Math.min(LONGEST_WAIT, cost / ROWS_SHARE) - this.#limits.intervalMs / 2;
    this.#rowsFrom = before + wait;
  }

  /** Returns the position up to which rows are to be sent at this tick. */
  #due(): ViewCursor {
    const now = cursorOf(this.#source.trace);
    const sent = this.#shared?.feed.cursor;
    if (sent !== undefined && this.#ticks - this.#othersAt < OTHERS_EVERY)
      return { ...sent, computations: now.computations, tasks: now.tasks };
    this.#othersAt = this.#ticks;
    return now;
  }

  #count(state: ViewerState): number {
    let count = 0;
    for (const viewer of this.#viewers) if (viewer.state === state) count++;
    return count;
  }

  /** Sends rows before `end` to the live pages, as long as `hasTime`. */
  #flush(hasTime: () => boolean, end: ViewCursor): void {
    const shared = this.#shared;
    if (shared === undefined) return;
    const watch = this.#stopwatch();
    while (hasTime() && (shared.pieces !== undefined || !shared.feed.isAt(end))) {
      shared.pieces ??= shared.feed.pieces(this.#limits.maxCatchUp, () => end);
      const { cursor } = shared.feed;
      const { value, done } = shared.pieces.next();
      if (done === true) shared.pieces = undefined;
      else this.#broadcast(value, shared.feed.cursor === cursor ? undefined : shared.feed.cursor);
      this.#pace.spend(watch());
    }
  }

  /** @param reached position of the receivers after these messages; undefined in the middle of a piece */
  #broadcast(messages: readonly (string | Uint8Array)[], reached: ViewCursor | undefined): void {
    for (const viewer of this.#viewers) {
      if (viewer.state !== 'live') continue;
      if (viewer.outlet.isFull) {
        viewer.state = 'behind';
        continue;
      }
      viewer.outlet.send(...messages);
      if (reached !== undefined) viewer.cursor = reached;
    }
  }

  #attend(viewer: Viewer): void {
    if (viewer.outlet.dropIfStuck()) {
      this.#leave(viewer);
      return;
    }
    if (viewer.state === 'behind' && viewer.outlet.isDrained) this.#resume(viewer);
    else if (viewer.state === 'catching-up') {
      if (viewer.outlet.isStreaming) viewer.outlet.pump();
      else this.#catchUp(viewer);
    }
  }

  /** Sends the current figures to the pages that lack them. */
  #sendFigures(which: Figures): void {
    const { content, message } = this.#figures(which);
    for (const { outlet, state, sent } of this.#viewers) {
      if (sent[which] === content || state === 'behind' || state === 'paused' || outlet.isFull) continue;
      sent[which] = content;
      outlet.send(message);
    }
  }

  #figures(which: Figures): FiguresText {
    const { time, ...rest } =
      which === 'totals'
        ? ({ type: which, ...this.#source.status() } satisfies TotalsMessage)
        : liveSums(this.#source.trace.totals, this.#source.clock());
    const made = JSON.stringify(rest);
    if (made !== this.#made[which]) this.#made[which] = made;
    const content = this.#made[which];
    return { content, message: `${content.slice(0, -1)},"time":${time}}` };
  }
}

/** Yields the pieces of a feed and keeps the viewer's cursor up to date. */
function* following(pieces: Outgoing, viewer: Viewer, feed: RowFeed): Outgoing {
  for (const messages of pieces) {
    viewer.cursor = feed.cursor;
    yield messages;
  }
}
