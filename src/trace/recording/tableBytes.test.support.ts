// Opens tables in memory as a trace, as a page does with the messages that it receives.

import { recordOf } from '../../base/lookUps.js';
import { RECORDED_TABLES, type RecordedTable } from '../../protocol/traceSchema.js';
import { ArrowStream } from '../formats/arrow/arrowDecoder.js';
import type { ArrowCodec, ByteSource } from '../formats/arrow/arrowMessages.js';
import type { Trace } from '../trace.js';
import { recordedTrace } from './openTables.js';

const UNPACKED: ArrowCodec = {
  compress: (bytes) => bytes,
  decompress: () => {
    throw new RangeError('the tables are not compressed');
  },
};

export class TableBytes {
  readonly #parts = new Map<RecordedTable, Uint8Array[]>();

  add(table: RecordedTable, parts: readonly Uint8Array[]): void {
    const known = this.#parts.get(table) ?? [];
    this.#parts.set(table, known);
    for (const part of parts) known.push(part.slice());
  }

  trace(): Trace {
    const stream = (table: RecordedTable): ArrowStream => {
      const bytes = new Uint8Array(Buffer.concat(this.#parts.get(table) ?? []));
      const source: ByteSource = { length: bytes.length, read: (from, to) => bytes.subarray(from, to) };
      const opened = new ArrowStream(table, source, UNPACKED, true);
      const torn = opened.damage.filter((damage) => damage.bytes > 0);
      if (torn.length > 0) throw new Error(`${table} is damaged: ${JSON.stringify(torn)}`);
      return opened;
    };
    return recordedTrace(recordOf(RECORDED_TABLES, stream), undefined);
  }
}
