// Sums up transfers by pair of workers, and by type of result.

import { getOrMake } from '../base/lookUps.js';
import { DIRECTIONS, TRANSFER_KINDS, type Trace, workerName } from '../trace/trace.js';
import { descendingTable, rowColumns, type Table } from './table.js';

const INCOMING = DIRECTIONS.indexOf('incoming');

/** Returns MB/s; NaN, i.e. an absent cell, if no time was measured. */
function bandwidth(nbytes: number, seconds: number): number {
  return seconds > 0 ? nbytes / seconds / 1e6 : Number.NaN;
}

/** Returns pairs of workers by bytes, most first. The other side may be a `client`. Exact for the whole run. */
export function transfersByPair(trace: Trace): Table {
  const { pairs } = trace.totals;
  const name = (row: number) => (row < 0 ? 'client' : workerName(trace, row));
  const { texts, numbers } = rowColumns(pairs);
  const size = numbers('Size (MB)', ({ nbytes }) => nbytes / 1e6);
  return descendingTable(size.numbers, [
    texts('From', ({ from }) => name(from)),
    texts('To', ({ to }) => name(to)),
    numbers('Transfers', ({ count }) => count),
    size,
    numbers('Compressed (MB)', ({ compressed }) => compressed / 1e6),
    numbers('Duration (s)', ({ seconds }) => seconds),
    numbers('Bandwidth (MB/s)', ({ nbytes, seconds }) => bandwidth(nbytes, seconds)),
  ]);
}

/**
 * Returns bytes by type of result and kind of transfer, most first. The bytes of a transfer with several results are
 * divided in proportion to the sizes of these results.
 */
export function transfersByType(trace: Trace): Table {
  const { transfers, tasks, strings } = trace;
  const rowOf = lastResults(trace);
  const bytesOf = (key: number): number => Math.max(0, tasks.nbytes[rowOf[key]!] ?? 0) || 0;
  const groups = new Map<
    string,
    { type: number; what: number; results: number; nbytes: number; seconds: number }
  >();
  const add = (type: number, what: number, results: number, bytes: number, seconds: number): void => {
    const name = `${type} ${what}`;
    const group = getOrMake(groups, name, () => ({ type, what, results: 0, nbytes: 0, seconds: 0 }));
    group.results += results;
    group.nbytes += bytes;
    group.seconds += seconds;
  };
  for (let row = 0; row < transfers.length; row++) {
    // A transfer between workers is recorded on both sides; the receiving side counts.
    if (transfers.direction[row] !== INCOMING && transfers.peer[row]! >= 0) continue;
    const seconds = transfers.stop[row]! - transfers.start[row]!;
    const keys = transfers.keys.subarray(transfers.keyOffsets[row]!, transfers.keyOffsets[row + 1]!);
    let total = 0;
    for (const key of keys) total += bytesOf(key);
    if (keys.length === 0) add(-1, transfers.what[row]!, 1, transfers.nbytes[row]!, seconds);
    for (const key of keys) {
      const share = total > 0 ? bytesOf(key) / total : 1 / keys.length;
      const type = rowOf[key]! < 0 ? -1 : tasks.resultType[rowOf[key]!]!;
      add(type, transfers.what[row]!, 1, transfers.nbytes[row]! * share, seconds * share);
    }
  }
  const rows = [...groups.values()];
  const { texts, numbers } = rowColumns(rows);
  const size = numbers('Size (MB)', ({ nbytes }) => nbytes / 1e6);
  return descendingTable(size.numbers, [
    { title: 'Type', ids: Int32Array.from(rows, ({ type }) => type), strings },
    texts('Kind', ({ what }) => TRANSFER_KINDS[what] ?? null),
    numbers('Results', ({ results }) => results),
    size,
    numbers('Duration (s)', ({ seconds }) => seconds),
    numbers('Bandwidth (MB/s)', ({ nbytes: bytes, seconds }) => bandwidth(bytes, seconds)),
  ]);
}

/** Returns the last row of each key, or -1; an empty array if no transfer has keys. */
function lastResults({ tasks, keys, transfers }: Trace): Int32Array {
  if (transfers.length === 0 || transfers.keys.length === 0) return new Int32Array(0);
  const row = new Int32Array(keys.length).fill(-1);
  const { key } = tasks;
  for (let i = 0; i < tasks.length; i++) row[key[i]!] = i;
  return row;
}
