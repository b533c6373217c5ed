// Opens the tables of a trace from bytes. Trace directories, reports and dashboards use it.
import { recordOf } from '../../base/recordOf.js';
import { unpackedSizeError, unpackLimit } from '../../base/unpackLimit.js';
import { appearedLater } from '../../protocol/schemaColumns.js';
import { RECORDED_TABLES, type RecordedTable } from '../../protocol/traceSchema.js';
import { ArrowStream } from '../formats/arrow/arrowDecoder.js';
import { type ByteSource, MemorySource } from '../formats/arrow/arrowMessages.js';
import { type Scan, scanStream, unpackedBytes } from '../formats/arrow/arrowScan.js';
import type { ArrowCodec } from '../formats/arrow/arrowTypes.js';
import type { Trace, TraceDamage } from '../trace.js';
import { streamsOf } from './recordedTasks.js';
import { type KnownTotals, recordedTrace } from './recordedTrace.js';
import type { TraceMeta } from './traceMeta.js';

/**
 * Total size of tables up to which all bytes are checked when a trace is opened: some 2,000,000 tasks, half a second.
 */
export const CHECKED_BYTES = 64 * 2 ** 20;

export interface TableSource {
  /** Name for error messages. */
  readonly name: string;
  /** Bytes of the table; undefined if the table is missing. */
  readonly bytes: ByteSource | undefined;
}

/** Returns sources of tables whose bytes are in memory. */
export function memoryTables(bytesOf: (table: RecordedTable) => Uint8Array | undefined) {
  return (table: RecordedTable): TableSource => {
    const bytes = bytesOf(table);
    return { name: `the table ${table}`, bytes: bytes && new MemorySource(bytes) };
  };
}

export interface OpenTablesOptions {
  readonly codec: ArrowCodec;
  /** Whether opening checks all bytes. Otherwise columns are read on first use. */
  readonly checked: boolean;
  /** Known totals. Default: the totals of the rows in the streams. */
  readonly known?: KnownTotals;
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
  { codec, checked, known, maxUnpackedBytes }: OpenTablesOptions,
): Trace {
  const scanned = recordOf(RECORDED_TABLES, (table) => scannedTable(tableOf(table)));
  checkUnpackedSize(Object.values(scanned), maxUnpackedBytes);
  const damage = new DamageList(meta);
  const stream = (table: RecordedTable): ArrowStream => {
    const { name, source, missing, scan } = scanned[table];
    const short = name.slice(name.lastIndexOf('/') + 1);
    if (missing && !appearedLater(table)) damage.add(short, 0, 0, 'it is missing');
    const opened = new ArrowStream(name, source, codec, checked, scan);
    if (!missing) {
      for (const { offset, bytes: lost, reason } of opened.damage) damage.add(short, offset, lost, reason);
    }
    return opened;
  };
  return recordedTrace(streamsOf(stream), damage.summary(), known);
}

/** Reads the descriptions of a table's batches, but no column. */
function scannedTable({ name, bytes }: TableSource): ScannedTable {
  const source = bytes ?? new MemorySource(new Uint8Array(0));
  return { name, source, missing: bytes === undefined, scan: scanStream(source) };
}

/**
 * Compares the stated unpacked sizes with the limit. They bind, because a buffer is unpacked into an array of its
 * stated size. All tables count, also those whose columns are read on first use: a column that is read is in memory
 * as a whole, and an analysis reads most columns.
 */
function checkUnpackedSize(tables: readonly ScannedTable[], maxUnpackedBytes: number | undefined): void {
  const packed = tables.reduce((sum, { source }) => sum + source.length, 0);
  const limit = maxUnpackedBytes ?? unpackLimit(packed);
  let unpacked = 0;
  for (const { source, scan } of tables) {
    unpacked += unpackedBytes(source, scan);
    if (unpacked > limit) throw unpackedSizeError('The trace directory', packed, limit);
  }
}

/** Collects the damage of a trace's tables. */
class DamageList {
  readonly #meta: Pick<TraceMeta, 'ended' | 'reason'>;
  #damage: TraceDamage | undefined;

  constructor(meta: Pick<TraceMeta, 'ended' | 'reason'>) {
    this.#meta = meta;
  }

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

  summary(): TraceDamage | undefined {
    const { ended, reason } = this.#meta;
    const known = this.#damage;
    if (ended === 'failed') {
      return { stretches: 0, bytes: 0, offset: 0, ...known, reason: `the recording failed: ${reason}` };
    }
    if (ended === 'closed' || (known !== undefined && known.stretches > 0)) return known;
    return {
      stretches: 0,
      bytes: 0,
      offset: 0,
      reason: 'the recording was not closed: it is still running, or its process was killed',
    };
  }
}
