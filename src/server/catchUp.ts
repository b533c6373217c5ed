// Encodes rows of a trace as messages, in pieces: the rows of a live trace after a cursor, for one page or for all live
// pages, and all rows of a recorded trace.

import { recordOf } from '../base/lookUps.js';
import { GROWING_TABLES, RECORDED_TABLES, type RecordedTable } from '../protocol/traceSchema.js';
import {
  CURSOR_TABLES,
  encodeTableMessage,
  encodeViewMessage,
  type ResumePoint,
  type ViewCursor,
} from '../protocol/viewMessages.js';
import type { LiveComputation } from '../trace/live/liveComputations.js';
import type { LiveTrace, TraceChanges, TraceCursor, WindowSizes } from '../trace/live/liveTrace.js';
import { type TableSink, TraceEncoder } from '../trace/recording/traceEncoder.js';

import { NO_ROWS, type Trace } from '../trace/trace.js';
import type { Outgoing } from './outlet.js';
import { recordedSums } from './sums.js';

/**
 * Largest number of rows per table in one piece, which takes some milliseconds to encode. Texts of events may be long.
 */
const PIECE: WindowSizes = {
  tasks: 4096,
  intervals: 8192,
  transfers: 2048,
  memory: 8192,
  resources: 2048,
  metrics: 4096,
  samples: 4096,
  events: 256,
};

/**
 * Number of rows of all tables up to which the messages of a piece are sent together. A page shows new rows only when it has
 * those of every table. If the thread has time for one message now and then, a page would be seconds late otherwise.
 */
const SHORT_PIECE = 1000;

/** Largest number of rows in an Arrow batch. */
const BATCH_ROWS = 8192;

export const BEGINNING: ViewCursor = { computations: 0, ...NO_ROWS };

export function cursorOf(trace: LiveTrace): ViewCursor {
  return { computations: trace.lastComputation, ...trace.cursor };
}

/** Returns the cursor from which to send rows to a page that reconnects; undefined if the page has seen another run. */
export function resumeCursor(
  trace: LiveTrace,
  epoch: string,
  from: ResumePoint | undefined,
): ViewCursor | undefined {
  if (from === undefined || from.epoch !== epoch) return undefined;
  const now = cursorOf(trace);
  return CURSOR_TABLES.every((name) => from.cursor[name] <= now[name]) ? from.cursor : undefined;
}

/** The rows of a live trace after a cursor. A message `cursor` says that all rows before this cursor have been sent. */
export class RowFeed {
  /** Position after the last complete piece. */
  cursor: ViewCursor;
  readonly #live: LiveTrace;
  readonly #messages = new Messages();
  readonly #encoder = pageEncoder(this.#messages.sink);
  /** Value of `workerChanges` when workers were sent last. */
  #workers: number | undefined;

  /** @param knowsWorkers true if the receivers have the current workers already */
  constructor(live: LiveTrace, from: ViewCursor, knowsWorkers = false) {
    this.#live = live;
    this.cursor = from;
    if (knowsWorkers) this.#workers = live.workerChanges;
  }

  /** Sends stack frames of samples again, for a receiver without the earlier messages. */
  repeatFrames(): void {
    this.#encoder.repeatFrames();
  }

  /** Returns true if all rows before `end` were sent. */
  isAt(end: ViewCursor): boolean {
    return isAt(this.cursor, end) && this.#workers === this.#live.workerChanges;
  }

  /**
   * Yields messages until `end`, which is evaluated again before each piece. If more than `limit` tasks are to be sent,
   * only the newest are sent.
   */
  *pieces(limit: number, end: () => ViewCursor = () => cursorOf(this.#live)): Outgoing {
    const live = this.#live;
    const skipped = Math.max(0, end().tasks - limit - this.cursor.tasks);
    let missed: ViewCursor | undefined = skipped > 0 ? { ...BEGINNING, tasks: skipped } : undefined;
    let from: ViewCursor = { ...this.cursor, tasks: this.cursor.tasks + skipped };
    do {
      const to = end();
      const computations = live
        .computationsAfter(from.computations)
        .filter(({ number }) => number <= to.computations);
      // A worker that changes during this piece is sent with the next one.
      const { workerChanges } = live;
      const changes = this.#changes(from, to);
      missed = sumOf(missed, changes.missed);
      if (missed !== undefined) yield [encodeViewMessage({ type: 'truncated', missed })];
      missed = undefined;
      const piece = this.#piece(changes, from, computations, workerChanges);
      const together: (string | Uint8Array)[] = [];
      if (rowsBetween(from, changes.cursor) > SHORT_PIECE) yield* piece;
      else for (const messages of piece) together.push(...messages);
      from = { ...changes.cursor, computations: Math.max(from.computations, to.computations) };
      this.cursor = from;
      yield [...together, ...this.#messages.take(), encodeViewMessage({ type: 'cursor', cursor: from })];
    } while (!isAt(from, end()) || this.#workers !== live.workerChanges);
  }

  /** Returns the changes between two cursors, without a trace if only tasks were added, which is the usual case. */
  #changes(from: ViewCursor, to: ViewCursor): Changes {
    const live = this.#live;
    const onlyTasks = CURSOR_TABLES.every(
      (name) => name === 'tasks' || name === 'computations' || from[name] >= to[name],
    );
    if (!onlyTasks || this.#workers !== live.workerChanges)
      return live.changesSince(from, limitsUpTo(from, to));
    const first = Math.max(from.tasks, live.evictedTasks);
    const { computations: _, ...cursor } = from;
    return {
      cursor: { ...cursor, tasks: Math.max(first, Math.min(to.tasks, first + PIECE.tasks)) },
      missed: { ...BEGINNING, tasks: first - from.tasks },
    };
  }

  *#piece(
    { trace, cursor }: Changes,
    from: ViewCursor,
    computations: readonly LiveComputation[],
    workerChanges: number,
  ): Outgoing {
    const encoder = this.#encoder;
    if (trace !== undefined && this.#workers !== workerChanges) {
      for (const _ of encoder.rows(trace, 'workers')) yield this.#messages.take();
      this.#workers = workerChanges;
    }
    for (const _ of encoder.liveComputations(computations)) yield this.#messages.take();
    for (const _ of encoder.liveRuns(this.#live.runs(from.tasks, cursor.tasks))) yield this.#messages.take();
    if (trace === undefined) return;
    const transfers = this.#live.reportedTransfers(from.transfers, cursor.transfers);
    for (const _ of encoder.liveRows(trace, transfers)) yield this.#messages.take();
  }
}

/** `trace` is undefined if only the table of tasks has new rows. */
type Changes = Omit<TraceChanges, 'trace'> & Partial<Pick<TraceChanges, 'trace'>>;

/** Returns the number of rows of each table for the next piece, up to `to`. */
function limitsUpTo(from: ViewCursor, to: ViewCursor): WindowSizes {
  return recordOf(GROWING_TABLES, (table) => Math.max(0, Math.min(PIECE[table], to[table] - from[table])));
}

/** Yields messages with all rows and sums of an opened trace. */
export function* wholeTrace(trace: Trace): Outgoing {
  const messages = new Messages();
  const encoder = pageEncoder(messages.sink);
  trace.keys.decodeAll();
  for (const table of RECORDED_TABLES) for (const _ of encoder.rows(trace, table)) yield messages.take();
  yield [encodeViewMessage(recordedSums(trace.totals)), encodeViewMessage({ type: 'complete' })];
}

/**
 * Yields one table of an opened trace as an Arrow stream. Reads all columns before the first piece, so that a damaged
 * trace throws before anything is sent.
 */
export function* wholeTable(trace: Trace, table: RecordedTable): Generator<Uint8Array> {
  const parts: Uint8Array[] = [];
  const encoder = pageEncoder((of, bytes) => {
    if (of === table) parts.push(...bytes.map((part) => part.slice()));
  });
  encoder.start();
  for (const _ of encoder.rows(trace, table)) yield* parts.splice(0);
  yield* parts;
}

/** Returns an encoder for self-contained batches, each of which takes some milliseconds. */
function pageEncoder(sink: TableSink): TraceEncoder {
  return new TraceEncoder(sink, { standalone: true, batchRows: BATCH_ROWS });
}

/** A list of encoded messages that have not been sent yet. */
class Messages {
  readonly #list: Uint8Array[] = [];

  readonly sink = (table: RecordedTable, parts: readonly Uint8Array[], rows: number): void => {
    this.#list.push(encodeTableMessage(table, parts, rows));
  };

  take(): readonly (string | Uint8Array)[] {
    return this.#list.splice(0);
  }
}

export function isAt(cursor: ViewCursor, now: ViewCursor): boolean {
  return CURSOR_TABLES.every((name) => cursor[name] >= now[name]);
}

function rowsBetween(from: TraceCursor, to: TraceCursor): number {
  return GROWING_TABLES.reduce((sum, table) => sum + to[table] - from[table], 0);
}

/** Adds up numbers of rows that are not sent. Returns undefined if there are none. */
function sumOf(known: ViewCursor | undefined, more: TraceCursor): ViewCursor | undefined {
  if (GROWING_TABLES.every((table) => more[table] === 0)) return known;
  return { ...more, computations: 0, tasks: more.tasks + (known?.tasks ?? 0) };
}
