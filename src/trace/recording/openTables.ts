// Opens the tables of a trace from bytes. Trace directories, reports and dashboards use it.
import { parsedJson } from '../../base/json.js';
import { addLazy, getOrMake, once, recordOf, sumOf } from '../../base/lookUps.js';
import { unpackedSizeError, unpackLimit } from '../../base/unpackLimit.js';
import { appearedLater, columnsOf, RECORDED_TABLES, type RecordedTable } from '../../protocol/traceSchema.js';
import { ArrowStream } from '../formats/arrow/arrowDecoder.js';
import { type ArrowCodec, type ByteSource, memorySource } from '../formats/arrow/arrowMessages.js';
import { type Scan, scanStream, unpackedBytes } from '../formats/arrow/arrowScan.js';
import { totalsOfRows } from '../rowTotals.js';
import { FrameBuilder } from '../samples/sampleRows.js';
import type { SampleSums } from '../samples/sampleSums.js';
import { summedSamples, wholeTable } from '../samples/sampleWindow.js';
import { StringTable } from '../stringTable.js';
import { absentColumn, arrayOf, joinRows, rowsFrom } from '../tableRows.js';
import type { TraceTotals } from '../totals.js';
import {
  type EvictedRows,
  type FrameRows,
  NO_ROWS,
  printable,
  type SampleRows,
  type Trace,
  type TraceAbout,
  type TraceDamage,
  type WorkerRows,
  withHosts,
} from '../trace.js';
import { type DecodingContext, decodedRows, internTexts } from './decodedRows.js';
import { RecordedTasks, type Streams } from './recordedTasks.js';
import type { TraceMeta } from './traceMeta.js';

/**
 * Total size of tables up to which all bytes are checked when a trace is opened: some 2,000,000 tasks, half a second.
 */
export const CHECKED_BYTES = 64 * 2 ** 20;

export interface TableSource {
  readonly name: string;
  /** Bytes of the table; undefined if the table is missing. */
  readonly bytes: ByteSource | undefined;
}

export function memoryTables(bytesOf: (table: RecordedTable) => Uint8Array | undefined) {
  return (table: RecordedTable): TableSource => {
    const bytes = bytesOf(table);
    return { name: `the table ${table}`, bytes: bytes && memorySource(bytes) };
  };
}

export interface OpenTablesOptions {
  readonly codec: ArrowCodec;
  /** Whether opening checks all bytes. Otherwise columns are read on first use. */
  readonly checked: boolean;
  /** Known totals. Default: the totals of the rows in the streams. */
  readonly known?: KnownFacts;
  /** Name of the trace in errors. */
  readonly name?: string;
  /** Limit for the unpacked size of all tables. Default: in proportion to their packed size. */
  readonly maxUnpackedBytes?: number | undefined;
}

interface ScannedTable {
  readonly name: string;
  /** Empty if the table is missing. */
  readonly source: ByteSource;
  readonly missing: boolean;
  readonly scan: Scan;
}

/**
 * Opens the tables of a trace. `meta.ended` decides how `trace.damage` describes streams without an end. Throws
 * ERR_LONGPOLE_UNPACKED_SIZE, before anything is unpacked, if the tables exceed the limit.
 */
export function openTables(
  meta: Pick<TraceMeta, 'ended' | 'reason'>,
  tableOf: (table: RecordedTable) => TableSource,
  { codec, checked, known, name = 'The trace directory', maxUnpackedBytes }: OpenTablesOptions,
): Trace {
  const scanned = recordOf(RECORDED_TABLES, (table) => scannedTable(tableOf(table)));
  checkUnpackedSize(name, Object.values(scanned), maxUnpackedBytes);
  const damage = new DamageList();
  const stream = (table: RecordedTable): ArrowStream => {
    const { name: file, source, missing, scan } = scanned[table];
    const short = file.slice(file.lastIndexOf('/') + 1);
    if (missing && !appearedLater(table)) damage.add(short, 0, 0, 'it is missing');
    const opened = new ArrowStream(file, source, codec, checked, scan);
    if (!missing) {
      for (const { offset, bytes: lost, reason } of opened.damage) damage.add(short, offset, lost, reason);
    }
    return opened;
  };
  return recordedTrace(recordOf(RECORDED_TABLES, stream), known?.damage ?? damage.summary(meta), known);
}

/** Reads the descriptions of a table's batches, but no column. */
function scannedTable({ name, bytes }: TableSource): ScannedTable {
  const source = bytes ?? memorySource(new Uint8Array(0));
  return { name, source, missing: bytes === undefined, scan: scanStream(source) };
}

/**
 * Compares the stated unpacked sizes with the limit. They bind, because a buffer is unpacked into an array of its
 * stated size. All tables count, also those whose columns are read on first use: a column that is read is in memory
 * as a whole, and an analysis reads most columns.
 */
function checkUnpackedSize(
  name: string,
  tables: readonly ScannedTable[],
  maxUnpackedBytes: number | undefined,
): void {
  const packed = sumOf(tables, ({ source }) => source.length);
  const limit = maxUnpackedBytes ?? unpackLimit(packed);
  let unpacked = 0;
  for (const { source, scan } of tables) {
    unpacked += unpackedBytes(source, scan);
    if (unpacked > limit) throw unpackedSizeError(name, packed, limit);
  }
}

const NO_DAMAGE = { stretches: 0, bytes: 0, offset: 0 };

class DamageList {
  #damage: TraceDamage | undefined;

  add(file: string, offset: number, bytes: number, reason: string): void {
    // A stream without an end has not lost bytes. `summary` reports once that the streams were not closed.
    const stretch = bytes > 0 || reason === 'it is missing' ? 1 : 0;
    const known = this.#damage;
    if (known === undefined || (known.stretches === 0 && stretch === 1)) {
      this.#damage = { stretches: stretch, bytes, offset, reason: `${file}: ${reason}` };
    } else {
      this.#damage = { ...known, stretches: known.stretches + stretch, bytes: known.bytes + bytes };
    }
  }

  summary({ ended, reason }: Pick<TraceMeta, 'ended' | 'reason'>): TraceDamage | undefined {
    const known = this.#damage;
    if (ended === 'failed') return { ...NO_DAMAGE, ...known, reason: `the recording failed: ${reason}` };
    if (ended === 'closed' || (known !== undefined && known.stretches > 0)) return known;
    const why = 'the recording was not closed: it is still running, or its process was killed';
    return { ...NO_DAMAGE, reason: why };
  }
}

/** Limit for named figures without a column. */
const MAX_OTHER_FIGURES = 64;
/** Limit for worker indices; only a damaged file has a larger index. */
const MAX_WORKERS = 1e6;

/** What the streams do not have: totals that cover rows outside of them, and facts about their file. */
interface KnownFacts {
  /** Default: the totals of the rows in the streams. */
  readonly totals?: TraceTotals;
  readonly evicted?: EvictedRows;
  readonly older?: SampleSums;
  readonly damage?: TraceDamage | undefined;
  readonly about?: TraceAbout;
}

/**
 * Returns the trace in opened streams. Tables are read on first use. Reading a column of an unchecked, damaged stream
 * throws DamagedBytes.
 */
export function recordedTrace(streams: Streams, damage: TraceDamage | undefined, known?: KnownFacts): Trace {
  const strings = new StringTable();
  for (const table of RECORDED_TABLES) internTexts(table, streams[table], strings);
  const workers = workerRows(streams.workers, strings);
  const tasks = new RecordedTasks(streams, strings, workers);
  const context = { strings, workers: workers.length };
  const profile = once(() => profileRows(streams, context, known?.older));
  const trace = {
    strings,
    workers,
    tasks: tasks.rows,
    evicted: known?.evicted ?? NO_ROWS,
    eventCount: RECORDED_TABLES.reduce((sum, table) => sum + streams[table].length, 0),
    damage,
    ...(known?.about && { about: known.about }),
  };
  addLazy(trace, {
    keys: () => tasks.keys,
    computations: () => tasks.computations(),
    intervals: () => decodedRows('intervals', streams.intervals, context),
    // The keys of transfers require all keys of the trace.
    transfers: () => decodedRows('transfers', streams.transfers, context, () => tasks.transferKeys),
    memory: () => withHosts('memory', decodedRows('memory', streams.memory, context), workers),
    resources: () => {
      const rows = decodedRows('resources', streams.resources, context);
      return withHosts('resources', { ...rows, figures: figuresOf(streams.resources) }, workers);
    },
    metrics: () => decodedRows('metrics', streams.metrics, context),
    frames: () => profile().frames,
    samples: () => profile().samples,
    events: () => decodedRows('events', streams.events, context),
  });
  addLazy(trace, { totals: () => known?.totals ?? totalsOfRows(trace) });
  return printable(trace);
}

/** Returns one row per worker. A removed worker has a second row, which repeats the first and adds its end. */
function workerRows(stream: ArrowStream, strings: StringTable): WorkerRows {
  const index = stream.int32('index') ?? new Int32Array(0);
  let length = 0;
  for (const one of index) if (one < MAX_WORKERS) length = Math.max(length, one + 1);
  const rows = decodedRows('workers', stream, { strings, workers: length });
  return rowsFrom('workers', length, ({ name, kind }) => {
    const column = arrayOf(rows, name);
    const result = absentColumn(kind, length);
    for (const [row, at] of index.entries()) if (at >= 0 && at < length) result[at] = column[row]!;
    return result;
  });
}

/** Returns the figures that at least one sample has. */
function figuresOf(stream: ArrowStream): Map<string, Float64Array> {
  const figures = new Map<string, Float64Array>();
  for (const { kind, title } of columnsOf('resources')) {
    const column = kind === 'figure' ? stream.float64(title) : undefined;
    if (column?.some((value) => !Number.isNaN(value))) figures.set(title, column);
  }
  addOthers(stream, figures);
  return figures;
}

/** Adds the figures without a column, which are stored as JSON objects. */
function addOthers(stream: ArrowStream, figures: Map<string, Float64Array>): void {
  const table = new StringTable();
  const ids = stream.texts('others', table) ?? new Int32Array(0);
  const parsed = new Map<number, Map<string, number>>();
  for (const [row, id] of ids.entries()) {
    if (id < 0) continue;
    for (const [name, value] of getOrMake(parsed, id, () => numbersOf(table.get(id)))) {
      let column = figures.get(name);
      if (column === undefined) {
        if (figures.size >= MAX_OTHER_FIGURES) continue;
        column = new Float64Array(stream.length).fill(Number.NaN);
        figures.set(name, column);
      }
      column[row] = value;
    }
  }
}

function numbersOf(json: string): Map<string, number> {
  const fields: [string, unknown][] = Object.entries(parsedJson(json) ?? {});
  return new Map(fields.flatMap(([name, one]) => (typeof one === 'number' ? [[name, one]] : [])));
}

/** Returns frames and samples. A stream may repeat a frame for readers that began later; its first row counts. */
function profileRows(
  streams: Streams,
  context: DecodingContext,
  older: SampleSums | undefined,
): { readonly frames: FrameRows; readonly samples: SampleRows } {
  const { strings } = context;
  const frames = new FrameBuilder(strings);
  const parents = streams.frames.int64('parent') ?? new Float64Array(streams.frames.length).fill(-1);
  const { id, functionName, file, line } = decodedRows('frames', streams.frames, context);
  for (const [row, one] of id.entries())
    frames.addRow(one, parents[row]!, functionName[row]!, file[row]!, line[row]!);
  const samples = decodedRows('samples', streams.samples, {
    ...context,
    frameRow: (frame) => frames.rowOf(frame),
  });
  const parts = older === undefined ? [samples] : [summedSamples(older, strings, frames), samples];
  return { frames: frames.build(), samples: joinRows('samples', parts.map(wholeTable)) };
}
