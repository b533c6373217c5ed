// Rows of a trace as messages, piece by piece: of a live trace from where somebody is on, for one page that comes late or for
// all that look; and all of a recorded one.

import { recordOf } from '../base/recordOf.js';
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

/** Rows of each table that one piece has at most: some milliseconds, and texts of events may be long. */
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

/** Rows of a batch at most. */
const BATCH_ROWS = 8192;

export const BEGINNING: ViewCursor = { computations: 0, ...NO_ROWS };

/** Up to where a live trace has rows. */
export function cursorOf(trace: LiveTrace): ViewCursor {
  return { computations: trace.lastComputation, ...trace.cursor };
}

/** Where to begin for a page that comes back; undefined: it has seen another run. */
export function resumeCursor(
  trace: LiveTrace,
  epoch: string,
  from: ResumePoint | undefined,
): ViewCursor | undefined {
  if (from === undefined || from.epoch !== epoch) return undefined;
  const now = cursorOf(trace);
  return CURSOR_TABLES.every((name) => from.cursor[name] <= now[name]) ? from.cursor : undefined;
}

/**
 * The rows of a live trace behind a cursor. A page that has got all pieces up to one that ends with a message `cursor` has
 * everything before it.
 */
export class RowFeed {
  /** Up to where all pieces were made; between two pieces that belong together, where they began. */
  cursor: ViewCursor;
  readonly #live: LiveTrace;
  readonly #messages = new Messages();
  readonly #encoder = pageEncoder(this.#messages.sink);
  /** `workerChanges` of the workers that were sent. */
  #workers: number | undefined;

  /** `knowsWorkers`: those who take the pieces know the workers that are there now. */
  constructor(live: LiveTrace, from: ViewCursor, knowsWorkers = false) {
    this.#live = live;
    this.cursor = from;
    if (knowsWorkers) this.#workers = live.workerChanges;
  }

  /** Frames of samples are told again, for somebody who has not got them. */
  repeatFrames(): void {
    this.#encoder.repeatFrames();
  }

  /** Whether everything before `end` was sent. */
  isAt(end: ViewCursor): boolean {
    return isAt(this.cursor, end) && this.#workers === this.#live.workerChanges;
  }

  /**
   * Yields messages up to where `end` is when they were yielded. Where more than `limit` tasks are to come, only the newest
   * of them are sent.
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
      // As of the snapshot: a change between two messages goes out with the next piece.
      const { workerChanges } = live;
      const changes = this.#changes(from, to);
      missed = sumOf(missed, changes.missed);
      if (missed !== undefined) yield [encodeViewMessage({ type: 'truncated', missed })];
      missed = undefined;
      yield* this.#piece(changes, from, computations, workerChanges);
      from = { ...changes.cursor, computations: Math.max(from.computations, to.computations) };
      this.cursor = from;
      yield [...this.#messages.take(), encodeViewMessage({ type: 'cursor', cursor: from })];
    } while (!isAt(from, end()) || this.#workers !== live.workerChanges);
  }

  /** A trace of what changed is not made where only tasks did, which is most of the time. */
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

/** `trace`: undefined where no table but that of tasks has new rows. */
type Changes = Omit<TraceChanges, 'trace'> & Partial<Pick<TraceChanges, 'trace'>>;

/** Of each table so many rows as one piece may have, and none beyond `to`. */
function limitsUpTo(from: ViewCursor, to: ViewCursor): WindowSizes {
  return recordOf(GROWING_TABLES, (table) => Math.max(0, Math.min(PIECE[table], to[table] - from[table])));
}

/** Everything that an opened trace has. */
export function* wholeTrace(trace: Trace): Outgoing {
  const messages = new Messages();
  const encoder = pageEncoder(messages.sink);
  trace.keys.decodeAll();
  for (const table of RECORDED_TABLES) for (const _ of encoder.rows(trace, table)) yield messages.take();
  yield [encodeViewMessage(recordedSums(trace.totals)), encodeViewMessage({ type: 'complete' })];
}

/**
 * One table of an opened trace as an Arrow stream. Columns are read before the first piece comes, so a damaged trace throws
 * there.
 */
export function* wholeTable(trace: Trace, table: RecordedTable): Generator<Uint8Array> {
  let parts: Uint8Array[] = [];
  const encoder = pageEncoder((of, bytes) => {
    if (of === table) parts.push(...bytes.map((part) => part.slice()));
  });
  const take = function* (): Generator<Uint8Array> {
    yield* parts;
    parts = [];
  };
  encoder.start();
  for (const _ of encoder.rows(trace, table)) yield* take();
  yield* take();
}

/** Batches of some milliseconds, each with its dictionaries. */
export function pageEncoder(sink: TableSink): TraceEncoder {
  return new TraceEncoder(sink, { standalone: true, batchRows: BATCH_ROWS });
}

/** Messages until they are sent. */
export class Messages {
  #list: Uint8Array[] = [];

  readonly sink = (table: RecordedTable, parts: readonly Uint8Array[], rows: number): void => {
    this.#list.push(encodeTableMessage(table, rows, parts));
  };

  take(): readonly (string | Uint8Array)[] {
    const list = this.#list;
    this.#list = [];
    return list;
  }
}

export function isAt(cursor: ViewCursor, now: ViewCursor): boolean {
  return CURSOR_TABLES.every((name) => cursor[name] >= now[name]);
}

/** Undefined if nothing is missing. */
function sumOf(known: ViewCursor | undefined, more: TraceCursor): ViewCursor | undefined {
  if (GROWING_TABLES.every((table) => more[table] === 0)) return known;
  return { ...more, computations: 0, tasks: more.tasks + (known?.tasks ?? 0) };
}
