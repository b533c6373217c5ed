// Makes the messages that begin every stream to a page: facts about the trace, and the Arrow schema of each table.

import type { RecordedTable } from '../protocol/traceSchema.js';
import {
  type BeginMessage,
  encodeTableMessage,
  encodeViewMessage,
  VIEW_VERSION,
} from '../protocol/viewMessages.js';
import { TraceEncoder } from '../trace/recording/traceEncoder.js';

/** Schema messages, encoded once for all streams. */
let schemas: readonly Uint8Array[] | undefined;

export function opening(begin: Omit<BeginMessage, 'type' | 'version'>): (string | Uint8Array)[] {
  schemas ??= encodeSchemas();
  return [encodeViewMessage({ type: 'begin', version: VIEW_VERSION, ...begin }), ...schemas];
}

function encodeSchemas(): Uint8Array[] {
  const messages: Uint8Array[] = [];
  const sink = (table: RecordedTable, parts: readonly Uint8Array[]): void => {
    messages.push(encodeTableMessage(table, parts));
  };
  new TraceEncoder(sink).start();
  return messages;
}
