// The live stream of one cluster: rows are encoded once, however many pages look, and every page gets the same bytes. While
// nobody looks nothing is encoded. A page that is too slow is left out and catches up from where it was. While the scheduler
// is busy rows come late instead of costing it more than a small share of its time; sums are always of now.

import { randomUUID } from 'node:crypto';
import { messageOf } from '../base/errors.js';
import {
  type BeginMessage,
  encodeViewMessage,
  type ResumePoint,
  type TotalsMessage,
  VIEW_VERSION,
  type ViewCursor,
} from '../protocol/viewMessages.js';
import { BEGINNING, cursorOf, isAt, RowFeed, resumeCursor } from './catchUp.js';
import type { ViewerLimits } from './limits.js';
import { opening } from './opening.js';
import { type Outgoing, Outlet, type OutletSocket } from './outlet.js';
import { Pace } from './pace.js';
import type { LiveSource } from './source.js';
import { liveSums } from './sums.js';

/** Totals are sent with every second rows of tasks; sums and rows of the other tables, which are few, with every fourth. */
const TOTALS_EVERY = 2;
const REST_EVERY = 4;
/** For so long the thread is watched before rows are sent. */
const PROBE_MS = 10;
/**
 * While tasks run, many rows come less often where they cost more than this share of the time, for a message costs something
 * however many rows it has. Few rows, and after so many milliseconds all of them, come in any case.
 */
const ROWS_SHARE = 0.01;
const LONGEST_WAIT = 250;
const FEW_ROWS = 500;

/**
 * - `catching-up`: gets what it has not seen. - `live`: gets what all get. - `behind`: is too slow, and gets nothing until
 * it has taken what it was sent. - `paused`: wants nothing.
 */
type ViewerState = 'catching-up' | 'live' | 'behind' | 'paused';

interface Viewer {
  readonly outlet: Outlet;
  state: ViewerState;
  /** Up to where it has been sent everything. */
  cursor: ViewCursor;
  /** The contents that it was sent last: it may have been left out when they changed. */
  readonly told: Record<Figures, string>;
}

/** What is sent whole when it has changed. */
type Figures = 'totals' | 'sums';

interface FiguresText {
  /** The message without its time: two of the same content are the same string, so that comparing them costs nothing. */
  readonly content: string;
  readonly message: string;
}

/** What all pages get that are live. */
interface Shared {
  readonly feed: RowFeed;
  /** Pieces that were begun; undefined: everything up to the cursor of the feed is sent. */
  pieces: Outgoing | undefined;
}

/** What a page may do. */
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
  /** The tick with which rows of the other tables were sent last. */
  #restAt = 0;
  /** When rows may be sent next, on the clock of `performance`. */
  #rowsFrom = 0;
  /** The contents that were made last. */
  readonly #made: Record<Figures, string> = { totals: '', sums: '' };

  constructor(source: LiveSource, limits: ViewerLimits) {
    this.#source = source;
    this.#limits = limits;
    this.#pace = new Pace(limits.intervalMs);
  }

  get viewers(): number {
    return this.#viewers.size;
  }

  /** Begins to send. */
  add(socket: OutletSocket, from: ResumePoint | undefined): ViewerHandle {
    const cursor = resumeCursor(this.#source.trace, this.#epoch, from);
    const [totals, sums] = [this.#figures('totals'), this.#figures('sums')];
    const viewer: Viewer = {
      outlet: new Outlet(socket, this.#limits, this.#pace),
      state: 'catching-up',
      cursor: cursor ?? BEGINNING,
      told: { totals: totals.content, sums: sums.content },
    };
    this.#viewers.add(viewer);
    viewer.outlet.send(...opening(this.#begin(cursor !== undefined)), totals.message, sums.message);
    this.#catchUp(viewer);
    this.#timer ??= setInterval(() => this.#probe(), this.#limits.intervalMs).unref();
    return {
      pause: () => this.#pause(viewer),
      resume: () => {
        if (viewer.state === 'paused') this.#resume(viewer);
      },
      leave: () => this.#leave(viewer),
    };
  }

  #begin(resumed: boolean): Omit<BeginMessage, 'type' | 'version'> {
    const { title, facts } = this.#source;
    return { source: 'live', title, facts, epoch: this.#epoch, resumed };
  }

  /** Says good-bye to all pages. */
  close(reason: string): void {
    this.#flush(() => true, cursorOf(this.#source.trace));
    const figures = [this.#figures('totals').message, this.#figures('sums').message];
    const end = cursorOf(this.#source.trace);
    for (const viewer of this.#viewers) {
      const { outlet } = viewer;
      outlet.stop();
      this.#sendRest(viewer, end);
      const complete = isAt(viewer.cursor, end);
      if (complete) outlet.send(...figures);
      outlet.send(encodeViewMessage({ type: 'closed', reason, complete }));
    }
    this.#viewers.clear();
    this.#rest();
  }

  /** Sends what a page still lacks that reads, but was not live when the run ended: it has nothing to wait for any more. */
  #sendRest(viewer: Viewer, end: ViewCursor): void {
    const { outlet, state, cursor } = viewer;
    if (state === 'live' || state === 'paused' || outlet.isFull) return;
    outlet.send(encodeViewMessage({ type: 'begin', version: VIEW_VERSION, ...this.#begin(true) }));
    const feed = new RowFeed(this.#source.trace, cursor);
    for (const messages of feed.pieces(this.#limits.maxCatchUp, () => end)) outlet.send(...messages);
    viewer.cursor = feed.cursor;
  }

  /** Up to where those that are live have been sent everything, or all there is if nobody is. */
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
   * Goes on for a page that may have got a part of a piece: the message tells it to forget that. Figures that changed
   * meanwhile come with the next tick that sends them.
   */
  #resume(viewer: Viewer): void {
    viewer.outlet.send(encodeViewMessage({ type: 'begin', version: VIEW_VERSION, ...this.#begin(true) }));
    this.#catchUp(viewer);
  }

  /** It has what those have that are live. In the middle of a piece it has to wait for the end of it. */
  #goLive(viewer: Viewer): void {
    if (this.#shared === undefined)
      this.#shared = { feed: new RowFeed(this.#source.trace, viewer.cursor, true), pieces: undefined };
    if (this.#shared.pieces !== undefined) return;
    // It has those frames only that its own rows needed.
    this.#shared.feed.repeatFrames();
    viewer.state = 'live';
  }

  #pause(viewer: Viewer): void {
    viewer.outlet.stop();
    viewer.state = 'paused';
  }

  #leave(viewer: Viewer): void {
    viewer.outlet.stop();
    this.#viewers.delete(viewer);
    if (this.#viewers.size === 0) this.#rest();
  }

  /** Nobody looks. */
  #rest(): void {
    clearInterval(this.#timer);
    clearTimeout(this.#soon);
    this.#timer = undefined;
    this.#soon = undefined;
    this.#shared = undefined;
  }

  /** Looks how busy the thread is, and then does what is due. */
  #probe(): void {
    this.#pace.probe();
    const { intervalMs } = this.#limits;
    this.#soon ??= setTimeout(() => this.#guardedTick(), Math.min(PROBE_MS, intervalMs / 4)).unref();
  }

  /** A dashboard that fails must not end the program that it shows. */
  #guardedTick(): void {
    this.#soon = undefined;
    try {
      this.#tick();
    } catch (error) {
      this.#rest();
      const reason = `The dashboard has failed: ${messageOf(error)}`;
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
    if (this.#ticks % REST_EVERY === 0) this.#sendFigures('sums');
    this.#pace.spend(watch());
  }

  /** Gives milliseconds of this thread since it was called last; on a busy machine fewer than pass on the wall. */
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

  /** Up to where rows go out now. */
  #due(): ViewCursor {
    const now = cursorOf(this.#source.trace);
    const sent = this.#shared?.feed.cursor;
    if (sent !== undefined && this.#ticks - this.#restAt < REST_EVERY)
      return { ...sent, computations: now.computations, tasks: now.tasks };
    this.#restAt = this.#ticks;
    return now;
  }

  #count(state: ViewerState): number {
    let count = 0;
    for (const viewer of this.#viewers) if (viewer.state === state) count++;
    return count;
  }

  /** Sends rows before `end` to those that are live, as long as there is time. */
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

  /** `reached`: where whoever gets the messages is then; undefined: in the middle of a piece. */
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

  /** To whoever has not got them as they are now. */
  #sendFigures(which: Figures): void {
    const { content, message } = this.#figures(which);
    for (const { outlet, state, told } of this.#viewers) {
      if (told[which] === content || state === 'behind' || state === 'paused' || outlet.isFull) continue;
      told[which] = content;
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

/** The pieces of a feed; the viewer's cursor follows. */
function* following(pieces: Outgoing, viewer: Viewer, feed: RowFeed): Outgoing {
  for (const messages of pieces) {
    viewer.cursor = feed.cursor;
    yield messages;
  }
}
