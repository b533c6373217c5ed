// Opens the tables of a trace from bytes. Trace directories, reports and dashboards use it.
import { unpackedSizeError, unpackLimit } from '../../base/unpackLimit.js';
import { appearedLater } from '../../protocol/schemaColumns.js';
import type { RecordedTable } from '../../protocol/traceSchema.js';
import { ArrowStream } from '../formats/arrow/arrowDecoder.js';
import { type ByteSource, MemorySource } from '../formats/arrow/arrowMessages.js';
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

export interface OpenTablesOptions {
  readonly codec: ArrowCodec;
  /** Whether opening checks all bytes. Otherwise columns are read on first use. */
  readonly checked: boolean;
  /** Known totals. Default: the totals of the rows in the streams. */
  readonly known?: KnownTotals;
  /** Limit for the unpacked size of tables in memory. Default: in proportion to their packed size. */
  readonly maxUnpackedBytes?: number | undefined;
}

/**
 * Opens the tables of a trace. `meta.ended` decides how `trace.damage` describes streams without an end. Throws
 * ERR_LONGPOLE_UNPACKED_SIZE if tables in memory exceed the limit. Columns of tables in files are unpacked on first
 * use, to at most 255 times their size.
 */
export function openTables(
  meta: Pick<TraceMeta, 'ended' | 'reason'>,
  tableOf: (table: RecordedTable) => TableSource,
  { codec, checked, known, maxUnpackedBytes }: OpenTablesOptions,
): Trace {
  const damage = new DamageList(meta);
  const sizes = { packed: 0, unpacked: 0 };
  const stream = (table: RecordedTable): ArrowStream => {
    const { name, bytes } = tableOf(table);
    const short = name.slice(name.lastIndexOf('/') + 1);
    if (bytes === undefined && !appearedLater(table)) damage.add(short, 0, 0, 'it is missing');
    const opened = new ArrowStream(name, bytes ?? new MemorySource(new Uint8Array(0)), codec, checked);
    if (bytes !== undefined) {
      for (const { offset, bytes: lost, reason } of opened.damage) damage.add(short, offset, lost, reason);
    }
    if (bytes instanceof MemorySource) {
      sizes.packed += bytes.length;
      sizes.unpacked += opened.unpackedSize();
    }
    return opened;
  };
  const streams = streamsOf(stream);
  const limit = maxUnpackedBytes ?? unpackLimit(sizes.packed);
  if (sizes.unpacked > limit) throw unpackedSizeError('The trace directory', sizes.packed, limit);
  return recordedTrace(streams, damage.summary(), known);
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
