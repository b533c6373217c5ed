// From the bytes of tables, wherever they lie, to a trace: what a trace directory, a report and a dashboard have in common.
import { unpackedSizeError, unpackLimit } from '../../base/unpackLimit.js';
import { appearedLater, type RecordedTable } from '../../protocol/traceSchema.js';
import { ArrowStream } from '../formats/arrow/arrowDecoder.js';
import { type ByteSource, MemorySource } from '../formats/arrow/arrowMessages.js';
import type { ArrowCodec } from '../formats/arrow/arrowTypes.js';
import type { Trace, TraceDamage } from '../trace.js';
import { streamsOf } from './recordedTasks.js';
import { type KnownTotals, recordedTrace } from './recordedTrace.js';
import type { TraceMeta } from './traceMeta.js';

/** Bytes of all tables up to which every byte is checked at once: some 2,000,000 tasks, half a second. */
export const CHECKED_BYTES = 64 * 2 ** 20;

export interface TableSource {
  /** What errors call it. */
  readonly name: string;
  /** Undefined: it is missing. */
  readonly bytes: ByteSource | undefined;
}

export interface OpenTablesOptions {
  readonly codec: ArrowCodec;
  /** All bytes are read and checked at once; otherwise columns are read when they are used. */
  readonly checked: boolean;
  /** Default: the sums of the rows that are there. */
  readonly known?: KnownTotals;
  /** Bytes that the tables in memory may become. Default: in proportion to their size. */
  readonly maxUnpackedBytes?: number | undefined;
}

/**
 * `ended` of the meta says whether streams without an end are damage. Throws ERR_LONGPOLE_UNPACKED_SIZE if tables in memory
 * become too large; of tables in files, columns are unpacked when they are used, and become at most 255 times as large.
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

/** What is wrong with the tables of a trace. */
class DamageList {
  readonly #meta: Pick<TraceMeta, 'ended' | 'reason'>;
  #damage: TraceDamage | undefined;

  constructor(meta: Pick<TraceMeta, 'ended' | 'reason'>) {
    this.#meta = meta;
  }

  add(file: string, offset: number, bytes: number, reason: string): void {
    // That a stream was not closed is no loss in itself; it is told once, for all.
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
      reason: 'the recording was not closed: it still goes on, or was killed',
    };
  }
}
