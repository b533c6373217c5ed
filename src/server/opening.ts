// The messages that begin every stream to a page: what it is, and how the bytes of each table begin.

import type { RecordedTable } from '../protocol/traceSchema.js';
import {
  type BeginMessage,
  encodeViewMessage,
  VIEW_TABLES,
  VIEW_VERSION,
  type ViewTable,
} from '../protocol/viewMessages.js';
import { TraceEncoder } from '../trace/recording/traceEncoder.js';

/** The tables of pages are those of trace directories. */
export const TABLES: readonly RecordedTable[] = VIEW_TABLES satisfies readonly RecordedTable[];

/** The same for all. */
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
