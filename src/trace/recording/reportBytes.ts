// The uncompressed content of a report: a JSON head with exact totals, and the tables of a trace directory as Arrow
// streams with packed columns (packedColumns.ts). docs/report-format.md explains how to read it without Longpole.
import { LongpoleError } from '../../base/errors.js';
import { fieldOf, numberIn, parsedJson, textIn, textsIn } from '../../base/json.js';
import { recordOf } from '../../base/lookUps.js';
import { joinedBytes } from '../../base/resized.js';
import { damageFrom, type TraceDamage } from '../../protocol/traceDamage.js';
import { GROWING_TABLES, RECORDED_TABLES, type RecordedTable } from '../../protocol/traceSchema.js';
import { damaged, readUndamaged } from '../formats/damage.js';
import type { TraceTotals } from '../totals.js';
import type { EvictedRows, Trace, TraceAbout } from '../trace.js';
import { memoryTables, openTables } from './openTables.js';
import { packColumns, unpackColumns } from './packedColumns.js';
import { totalsFromJson, totalsToJson } from './totalsJson.js';
import { encodeTables } from './traceEncoder.js';

/** `LPREPORT`, followed by the version of this container. */
const MAGIC = [0x4c, 0x50, 0x52, 0x45, 0x50, 0x4f, 0x52, 0x54];
const VERSION = 1;
/** Magic, version (32 bits, little endian), length of the head (32 bits). */
const PREFIX = 16;

/** Id of the script element that holds the compressed bytes as base64. */
export const REPORT_ELEMENT = 'longpole-trace';

/** Content of a page besides the rows of a trace. */
export interface ReportInfo extends TraceAbout {
  /**
   * View that the page opens with, e.g. `stream?from=1&to=2`, unless its address names another. Default: the summary.
   */
  readonly address?: string;
}

export interface OpenedReport extends Required<ReportInfo> {
  readonly trace: Trace;
}

interface TableEntry {
  readonly table: RecordedTable;
  readonly size: number;
  /** Packing of each buffer, one digit each. */
  readonly ways: string;
}

/** Returns the bytes of a report. A general compressor reduces them to some 6 to 12 bytes a task. */
export function encodeReport(trace: Trace, { title, facts, address = '' }: ReportInfo): Uint8Array {
  const tables = Array.from(encodeTables(trace), ([table, bytes]) => {
    const ways = packColumns(bytes).join('');
    return { table, bytes, ways };
  });
  const head = new TextEncoder().encode(
    JSON.stringify({
      title,
      facts,
      address,
      evicted: trace.evicted,
      damage: trace.damage ?? null,
      totals: totalsToJson(trace.totals),
      tables: tables.map(({ table, bytes, ways }): TableEntry => ({ table, size: bytes.length, ways })),
    }),
  );
  const prefix = new Uint8Array(PREFIX);
  prefix.set(MAGIC);
  const view = new DataView(prefix.buffer);
  view.setUint32(8, VERSION, true);
  view.setUint32(12, head.length, true);
  return joinedBytes([prefix, head, ...tables.map(({ bytes }) => bytes)]);
}

/**
 * Returns the trace in the bytes of a report, which are unpacked in place. Throws ERR_LONGPOLE_TRACE_FORMAT if they are
 * damaged, and ERR_LONGPOLE_TRACE_VERSION if a newer Longpole wrote them. `name` names the report in errors.
 */
export function decodeReport(bytes: Uint8Array, name = 'The report'): OpenedReport {
  return readUndamaged(name, () => decoded(bytes, name));
}

function decoded(bytes: Uint8Array, name: string): OpenedReport {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < PREFIX || MAGIC.some((byte, i) => bytes[i] !== byte))
    damaged('it has no signature of a report');
  const version = view.getUint32(8, true);
  if (version > VERSION) {
    throw new LongpoleError(
      'ERR_LONGPOLE_TRACE_VERSION',
      `${name} has version ${version} of the report format; this Longpole reads up to version ${VERSION}. Open it with the Longpole that wrote it, or a later one.`,
    );
  }
  const head = parseHead(bytes.subarray(PREFIX, PREFIX + view.getUint32(12, true)));
  const tables = new Map<RecordedTable, Uint8Array>();
  let at = PREFIX + view.getUint32(12, true);
  for (const { table, size, ways } of head.tables) {
    if (at + size > bytes.length) damaged('it is incomplete');
    // A copy is aligned for values of eight bytes.
    const stream = bytes.slice(at, at + size);
    unpackColumns(stream, Uint8Array.from(ways, Number));
    tables.set(table, stream);
    at += size;
  }
  const trace = openTables(
    { ended: 'closed' },
    memoryTables((table) => tables.get(table)),
    {
      codec: NO_CODEC,
      checked: false,
      known: {
        damage: head.damage,
        about: { title: head.title, facts: head.facts },
        ...(head.totals === undefined ? {} : { totals: head.totals, evicted: head.evicted }),
      },
    },
  );
  return { title: head.title, facts: head.facts, address: head.address, trace };
}

/** Buffers of a report are not compressed individually. */
const NO_CODEC = {
  compress: (bytes: Uint8Array) => bytes,
  decompress: (bytes: Uint8Array) => bytes,
};

interface Head extends Required<ReportInfo> {
  readonly evicted: EvictedRows;
  readonly damage: TraceDamage | undefined;
  readonly totals: TraceTotals | undefined;
  readonly tables: readonly TableEntry[];
}

function parseHead(bytes: Uint8Array): Head {
  const value = parsedJson(new TextDecoder().decode(bytes));
  if (typeof value !== 'object' || value === null) return damaged('its head is not JSON');
  const damage = fieldOf(value, 'damage');
  const tables = fieldOf(value, 'tables');
  return {
    title: textIn(value, 'title'),
    facts: textsIn(value, 'facts'),
    address: textIn(value, 'address'),
    // Reports of earlier versions name it `letGo`.
    evicted: evictedOf(fieldOf(value, 'evicted') ?? fieldOf(value, 'letGo')),
    damage: damageFrom(damage) ?? earlierDamage(damage),
    totals: totalsFromJson(fieldOf(value, 'totals')),
    tables: Array.isArray(tables) ? tables.map(tableEntry) : damaged('its head has no valid list of tables'),
  };
}

/** Reports of earlier versions have only the reason. */
function earlierDamage(reason: unknown): TraceDamage | undefined {
  return typeof reason === 'string' ? { stretches: 1, bytes: 0, offset: 0, reason } : undefined;
}

function evictedOf(value: unknown): EvictedRows {
  return recordOf(GROWING_TABLES, (table) => Math.max(0, numberIn(value, table) || 0));
}

function tableEntry(value: unknown): TableEntry {
  const table = RECORDED_TABLES.find((name) => name === fieldOf(value, 'table'));
  const size = numberIn(value, 'size');
  const ways = fieldOf(value, 'ways');
  if (table === undefined || !(size >= 0) || typeof ways !== 'string')
    return damaged('its head contains an invalid table');
  return { table, size, ways };
}
