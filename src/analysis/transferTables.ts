// What was moved: between which workers, and what kind of results.
import { getOrMake } from '../base/lookUps.js';
import { sortedOrder } from '../base/sortedOrder.js';
import type { PairTotals } from '../trace/totals.js';
import { DIRECTIONS, TRANSFER_KINDS, type Trace } from '../trace/trace.js';
import { Table } from './table.js';
import { valuesColumn } from './valuesColumn.js';

const INCOMING = DIRECTIONS.indexOf('incoming');

/** MB/s; NaN, which is absent, of what took no time that was measured. */
function bandwidth(nbytes: number, seconds: number): number {
  return seconds > 0 ? nbytes / seconds / 1e6 : Number.NaN;
}

/** Pairs of workers by bytes, most first. A client has no name. Exact over the whole run. */
export function transfersByPair(trace: Trace): Table {
  const { workers, strings } = trace;
  const { pairs } = trace.totals;
  const name = (row: number) => (row < 0 ? -1 : workers.name[row]!);
  const numbers = (title: string, value: (row: PairTotals) => number) => ({
    title,
    numbers: Float64Array.from(pairs, value),
  });
  const size = numbers('Size (MB)', ({ nbytes }) => nbytes / 1e6);
  return new Table(
    [
      { title: 'From', ids: Int32Array.from(pairs, ({ from }) => name(from)), strings },
      { title: 'To', ids: Int32Array.from(pairs, ({ to }) => name(to)), strings },
      numbers('Transfers', ({ count }) => count),
      size,
      numbers('Compressed (MB)', ({ compressed }) => compressed / 1e6),
      numbers('Duration (s)', ({ seconds }) => seconds),
      numbers('Bandwidth (MB/s)', ({ nbytes, seconds }) => bandwidth(nbytes, seconds)),
    ],
    { order: sortedOrder(size.numbers, true) },
  );
}

/**
 * What was moved for which reason: type of result, and kind of transfer, by bytes, most first. The bytes of a transfer
 * of several results are divided among them in proportion to their size.
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
    // Of a movement between workers the receiving side counts.
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
  const size = Float64Array.from(rows, (row) => row.nbytes / 1e6);
  return new Table(
    [
      { title: 'Type', ids: Int32Array.from(rows, ({ type }) => type), strings },
      valuesColumn(
        'Kind',
        rows.map(({ what }) => TRANSFER_KINDS[what] ?? null),
      ),
      { title: 'Results', numbers: Float64Array.from(rows, ({ results }) => results) },
      { title: 'Size (MB)', numbers: size },
      { title: 'Duration (s)', numbers: Float64Array.from(rows, ({ seconds }) => seconds) },
      {
        title: 'Bandwidth (MB/s)',
        numbers: Float64Array.from(rows, ({ nbytes: bytes, seconds }) => bandwidth(bytes, seconds)),
      },
    ],
    { order: sortedOrder(size, true) },
  );
}

/** By key: the last row that made it, or -1; nothing if no transfer names a key. */
function lastResults({ tasks, keys, transfers }: Trace): Int32Array {
  if (transfers.length === 0 || transfers.keys.length === 0) return new Int32Array(0);
  const row = new Int32Array(keys.length).fill(-1);
  const { key } = tasks;
  for (let i = 0; i < tasks.length; i++) row[key[i]!] = i;
  return row;
}
