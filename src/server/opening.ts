// Makes the messages that begin every stream to a page: facts about the trace, and the Arrow schema of each table.

import type { RecordedTable } from '../protocol/traceSchema.js';
import {
  type BeginMessage,
  encodeViewMessage,
  VIEW_TABLES,
  VIEW_VERSION,
  type ViewTable,
} from '../protocol/viewMessages.js';
import { TraceEncoder } from '../trace/recording/traceEncoder.js';

/** Tables that are sent to pages, which are the tables of trace directories. */
export const TABLES: readonly RecordedTable[] = VIEW_TABLES satisfies readonly RecordedTable[];

/** Schema messages, encoded once for all streams. */
let schemas: readonly Uint8Array[] | undefined;

export function opening(begin: Omit<BeginMessage, 'type' | 'version'>): (string | Uint8Array)[] {
  schemas ??= encodeSchemas();
  return [encodeViewMessage({ type: 'begin', version: VIEW_VERSION, ...begin }), ...schemas];
}

function encodeSchemas(): Uint8Array[] {
  const messages: Uint8Array[] = [];
  const sink = (table: ViewTable, parts: readonly Uint8Array[]): void => {
    messages.push(encodeViewMessage({ type: 'schema', table, bytes: Buffer.concat(parts) }));
  };
  new TraceEncoder(sink).start();
  return messages;
}
