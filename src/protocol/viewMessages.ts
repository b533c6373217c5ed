// Messages between a dashboard and its server: tables of the trace as Arrow bytes, exact sums, and the page's
// progress. A table is one binary WebSocket message, which has the index of the table, and any other message one JSON
// text. All times are seconds since the epoch on the scheduler's clock, all sizes bytes; numbers in JSON are finite.
import { LongpoleError } from '../base/errors.js';
import { fieldOf, numberIn, parsedJson } from '../base/json.js';
import { recordOf } from '../base/lookUps.js';
import { joinedBytes } from '../base/resized.js';
import type { MemorySample, WorkerInfo } from './clusterObserver.js';
import { damageFrom, type TraceDamage } from './traceDamage.js';
import { GROWING_TABLES, RECORDED_TABLES, type RecordedTable } from './traceSchema.js';

/** Version, incremented by every change that an older page would misread. */
export const VIEW_VERSION = 5;

export const CURSOR_TABLES = ['computations', ...GROWING_TABLES] as const;

/**
 * Rows of each table that a page has received or missed, counted from the beginning of the run; for computations the
 * highest number.
 */
export type ViewCursor = Readonly<Record<(typeof CURSOR_TABLES)[number], number>>;

/** The first message. A page that fell behind gets it again. */
export interface BeginMessage {
  readonly type: 'begin';
  readonly version: number;
  /** The kind of source. A recorded trace sends all of its rows and then `complete`. */
  readonly source: 'live' | 'recorded';
  /** Title of the page, e.g. the address of the scheduler, or the name of the trace. */
  readonly title: string;
  /** Identifies the run. A page sends it with the cursor to resume after its connection broke. */
  readonly epoch: string;
  /**
   * True if the page keeps its rows up to the last cursor, and later rows are sent again. False if the page starts
   * empty.
   */
  readonly resumed: boolean;
  /** Facts to show, e.g. `Node` → `v20.19.0`. */
  readonly facts: Readonly<Record<string, string>>;
  /** Damage to the files of a recorded trace. */
  readonly damage: TraceDamage | null;
}

/**
 * The beginning of a table's bytes; one for each table, after `begin`. `schema` and any of the following `table`
 * messages, joined, are an Arrow IPC stream: every batch contains the dictionaries that it needs.
 */
export interface SchemaMessage {
  readonly type: 'schema';
  readonly table: RecordedTable;
  readonly bytes: Uint8Array;
}

/**
 * Rows of a table. A row of `workers` or `computations` replaces the row with the same `index` or `number`. A row of
 * `frames` with a known `id` is a repetition. Rows of other tables are new. The edges of a computation come once,
 * with the computation, so also for tasks that have not run yet.
 */
export interface TableMessage {
  readonly type: 'table';
  readonly table: RecordedTable;
  readonly rows: number;
  /** Start of the bytes in the message, a multiple of 8. */
  readonly bytes: Uint8Array;
}

/** The present state, exact; sent a few times a second while it changes. */
export interface TotalsMessage {
  readonly type: 'totals';
  readonly time: number;
  /** Dask's state (`waiting`, `queued`, `processing`, `memory`, `erred`, …) → tasks that the scheduler knows. */
  readonly states: Readonly<Record<string, number>>;
  /** Submission of the current graph in seconds since the epoch; 0 before the first. */
  readonly graphStart: number;
  /** Rows by prefix, most seconds first; beyond 500 the rest is one row, `(others)`. */
  readonly progress: readonly ProgressRow[];
  readonly workers: readonly WorkerRow[];
  /** The running tasks: at most one row per thread of each worker. */
  readonly running: readonly RunningRow[];
}

/** Exact sums over the whole run, including rows that the page lacks; sent about once a second while they change. */
export interface SumsMessage {
  readonly type: 'sums';
  readonly time: number;
  /**
   * Totals of the trace, see totalsJson.ts. null is a number that is not finite. During a run there are at most 500
   * prefixes; the others are one, `(others)`.
   */
  readonly totals: object;
}

export type ViewTextMessage =
  | BeginMessage
  /** All rows up to this cursor have been sent, or were missed. Later rows of a run count from this cursor. */
  | { readonly type: 'cursor'; readonly cursor: ViewCursor }
  /**
   * Number of rows that the page does not get, because the server has discarded them or they are too many; 0 for
   * computations. The sums include them. They would lie between the page's rows and the next ones.
   */
  | { readonly type: 'truncated'; readonly missed: ViewCursor }
  | TotalsMessage
  | SumsMessage
  /** A recorded trace has been sent completely. */
  | { readonly type: 'complete' }
  /** The last message, because the run is over or the server has failed. The page need not reconnect. */
  | {
      readonly type: 'closed';
      readonly reason: string;
      /** True if the page has received everything. */
      readonly complete: boolean;
    };

export type ViewMessage = ViewTextMessage | SchemaMessage | TableMessage;

/** A hidden page pauses the stream, and catches up later. */
export type PageMessage = { readonly type: 'pause' } | { readonly type: 'resume' };

/** The path of the WebSocket, beside the page. */
export const LIVE_PATH = 'api/live';

/**
 * WebSocket close code for too many pages. A page cannot read the status of a refused connection, so the server
 * accepts it first. The reason is a sentence of at most 123 bytes.
 */
export const CROWDED_CODE = 1013;

/** Position of a page when its connection broke. */
export interface ResumePoint {
  readonly epoch: string;
  readonly cursor: ViewCursor;
}

/** Returns the path and query for a connection; without a point the page starts empty. */
export function livePath(from?: ResumePoint): string {
  if (from === undefined) return LIVE_PATH;
  const rows = CURSOR_TABLES.map((name) => from.cursor[name]).join(',');
  return `${LIVE_PATH}?epoch=${encodeURIComponent(from.epoch)}&cursor=${rows}`;
}

/** Parses a point from `epoch` and `cursor` of a query; undefined if it is invalid. */
export function parseResumePoint(epoch: string | null, cursor: string | null): ResumePoint | undefined {
  if (epoch === null || cursor === null || !/^\d{1,15}(,\d{1,15})*$/.test(cursor)) return undefined;
  const rows = cursor.split(',').map(Number);
  if (rows.length !== CURSOR_TABLES.length) return undefined;
  return { epoch, cursor: recordOf(CURSOR_TABLES, (name) => rows[CURSOR_TABLES.indexOf(name)] ?? 0) };
}

/** Longest message from a page in bytes. Longer ones are refused. */
export const MAX_PAGE_MESSAGE_BYTES = 1024;

const SCHEMA = 1;
const TABLE = 2;
/** Kind, table, 2 reserved bytes, rows (32 bits, little endian), 8 reserved bytes. */
export const BINARY_HEAD = 16;

export function encodeViewMessage(message: ViewTextMessage): string {
  return JSON.stringify(message);
}

/** Encodes a `table` message, or a `schema` message without `rows`. The bytes are in several parts; each is copied once. */
export function encodeTableMessage(
  table: RecordedTable,
  parts: readonly Uint8Array[],
  rows?: number,
): Uint8Array<ArrayBuffer> {
  const head = new Uint8Array(BINARY_HEAD);
  head[0] = rows === undefined ? SCHEMA : TABLE;
  head[1] = RECORDED_TABLES.indexOf(table);
  new DataView(head.buffer).setUint32(4, rows ?? 0, true);
  return joinedBytes([head, ...parts]);
}

/**
 * Decodes a message of the server; `bytes` of the result are a view of `data`.
 *
 * @throws LongpoleError ERR_LONGPOLE_PAGE_DATA if it is no message of this version.
 */
export function decodeViewMessage(data: string | Uint8Array): ViewMessage {
  return typeof data === 'string' ? decodeText(data) : decodeBinary(data);
}

function decodeBinary(data: Uint8Array): ViewMessage {
  if (data.length < BINARY_HEAD) refuse('it is shorter than the head of a table');
  const table = RECORDED_TABLES[data[1]!];
  if (table === undefined) return refuse('its table is unknown');
  const bytes = data.subarray(BINARY_HEAD);
  const rows = new DataView(data.buffer, data.byteOffset).getUint32(4, true);
  if (data[0] === SCHEMA) return { type: 'schema', table, bytes };
  return data[0] === TABLE ? { type: 'table', table, rows, bytes } : refuse(`its kind is ${data[0]}`);
}

/** Required properties of each text message: enough for a page to draw it without further checks. */
const SHAPES: {
  readonly [M in ViewTextMessage as M['type']]: Readonly<Record<Exclude<keyof M, 'type'>, Shape>>;
} = {
  begin: {
    version: 'number',
    source: 'string',
    title: 'string',
    epoch: 'string',
    resumed: 'boolean',
    facts: 'object',
    damage: 'damage',
  },
  cursor: { cursor: 'cursor' },
  truncated: { missed: 'cursor' },
  totals: {
    time: 'number',
    states: 'object',
    graphStart: 'number',
    progress: 'list',
    workers: 'list',
    running: 'list',
  },
  sums: { time: 'number', totals: 'object' },
  complete: {},
  closed: { reason: 'string', complete: 'boolean' },
};
type Shape = 'number' | 'string' | 'boolean' | 'object' | 'list' | 'cursor' | 'damage';

function decodeText(text: string): ViewMessage {
  const value = parsedJson(text);
  if (!isTextMessage(value)) return refuse('it is not a JSON message of the dashboard');
  if (value.type === 'begin' && value.version !== VIEW_VERSION)
    refuse(`the server speaks version ${value.version} and this page version ${VIEW_VERSION}`);
  return value;
}

function isTextMessage(value: unknown): value is ViewTextMessage {
  const shape = Object.entries(SHAPES).find(([type]) => type === fieldOf(value, 'type'))?.[1];
  return (
    shape !== undefined && Object.entries(shape).every(([name, one]) => hasShape(fieldOf(value, name), one))
  );
}

function hasShape(value: unknown, shape: Shape): boolean {
  switch (shape) {
    case 'list':
      return Array.isArray(value);
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    case 'damage':
      return value === null || damageFrom(value) !== undefined;
    case 'cursor':
      return isViewCursor(value);
    default:
      return typeof value === shape;
  }
}

function isViewCursor(value: unknown): value is ViewCursor {
  return CURSOR_TABLES.every((name) => {
    const rows = numberIn(value, name);
    return Number.isSafeInteger(rows) && rows >= 0;
  });
}

/** Decodes a message of a page; undefined if it is invalid. */
export function decodePageMessage(text: string): PageMessage | undefined {
  const type = fieldOf(parsedJson(text), 'type');
  return type === 'pause' || type === 'resume' ? { type } : undefined;
}

export function encodePageMessage(message: PageMessage): string {
  return JSON.stringify(message);
}

function refuse(what: string): never {
  throw new LongpoleError(
    'ERR_LONGPOLE_PAGE_DATA',
    `A message of the dashboard's server cannot be read: ${what}. Load the page again.`,
  );
}

export interface ProgressRow {
  readonly prefix: string;
  /** Number of submitted tasks. */
  readonly total: number;
  /** Number of tasks that a worker has now. */
  readonly processing: number;
  /** Number of tasks with a result. */
  readonly finished: number;
  readonly erred: number;
  /** Number of tasks that were cancelled, or did not run because another one failed. The rest of `total` waits. */
  readonly cancelled: number;
  /** Seconds of computing. */
  readonly seconds: number;
  /** Numbers of tasks of the current graph, see `LiveTotals.graphStart`. */
  readonly current: Readonly<Record<'total' | 'finished' | 'erred' | 'cancelled', number>>;
}

export interface WorkerRow
  extends Omit<WorkerInfo, 'startTime'>,
    Pick<MemorySample, 'process' | 'managed' | 'unmanaged' | 'spilled'> {
  readonly status: 'running' | 'paused';
  /** Number of tasks that the worker has not finished. */
  readonly processing: number;
  /** Expected seconds of these tasks. */
  readonly occupancy: number;
  readonly started: number;
}

/** A task that a worker runs now. */
export interface RunningRow {
  /** Id of the task in the table of tasks. */
  readonly id: number;
  readonly key: string;
  readonly prefix: string;
  readonly worker: number;
  /** Start of the task; if the engine does not report it, the time of the first observation. */
  readonly started: number;
}
