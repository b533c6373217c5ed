// Finds the transfers between the program and the workers: arguments, scattered data and fetched results.
import { checkArgument, TRACE } from '../base/arguments.js';
import { rowsWhere } from '../base/groups.js';
import { oncePer, pushTo } from '../base/lookUps.js';
import { TASK_MEMORY } from '../protocol/clusterObserver.js';
import { DIRECTIONS, TRANSFER_KINDS, type Trace, textOf } from '../trace/trace.js';
import { arrivals } from './blockedSpans.js';
import { merged, overlapSeconds, type Span, spansBetween } from './spans.js';

/** Bytes from which tasks wait for a transfer. If fewer take long, something else holds them up, e.g. a blocked event loop. */
const MIN_BYTES = 100e3;

export function programTransfers({ transfers }: Trace, what: 'scatter' | 'gather'): number[] {
  const kind = TRANSFER_KINDS.indexOf(what);
  const direction = DIRECTIONS.indexOf(what === 'scatter' ? 'incoming' : 'outgoing');
  const isWanted = (row: number): boolean =>
    transfers.what[row] === kind && transfers.peer[row]! < 0 && transfers.direction[row] === direction;
  return [...rowsWhere(transfers.length, isWanted)];
}

/** Returns the times of transfers, each until its end; see `arrivals`. */
export function transferSpans(trace: Trace, rows: readonly number[]): Span[] {
  const { start } = trace.transfers;
  const stop = arrivals(trace);
  return rows.map((row) => ({ start: start[row]!, stop: stop[row]! }));
}

/** Rows of transfers of results that other tasks of a local run use, which pass through the program's thread. */
export interface PassedResults {
  readonly received: readonly number[];
  readonly sent: readonly number[];
}

/** Returns the transfers all of whose results are used by tasks; none for a cluster, whose workers exchange results. */
export const passedResults = oncePer((trace: Trace): PassedResults => {
  const { tasks, transfers } = trace;
  if (transfers.length === 0 || recordsTransfers(trace)) return { received: [], sent: [] };
  const used = new Set(tasks.dependencies);
  const stops = new Map(Array.from(tasks.key, (key, row) => [key, tasks.stopped[row]!]));
  const arePassed = (row: number): boolean => {
    const keys = transfers.keys.subarray(transfers.keyOffsets[row]!, transfers.keyOffsets[row + 1]!);
    return keys.length > 0 && keys.every((key) => used.has(key) && stops.get(key)! <= transfers.start[row]!);
  };
  return {
    received: programTransfers(trace, 'gather').filter(arePassed),
    sent: programTransfers(trace, 'scatter').filter(arePassed),
  };
});

/**
 * Returns the times between `from` and `to` in which the worker received data of the program, the last one first. They
 * include those in which the program's thread copied results of a local run: it sends nothing meanwhile.
 */
export function receivingSpans(trace: Trace, worker: number, from: number, to: number): Span[] {
  return spansBetween(receiving(trace).get(worker) ?? copying(trace), from, to);
}

/** Returns the spans by worker, in order, for workers with arguments. */
const receiving = oncePer((trace: Trace): ReadonlyMap<number, readonly Span[]> => {
  const { worker, start, nbytes } = trace.transfers;
  const stop = arrivals(trace);
  const spans = new Map<number, Span[]>();
  for (const row of programTransfers(trace, 'scatter'))
    if (nbytes[row]! >= MIN_BYTES) pushTo(spans, worker[row]!, { start: start[row]!, stop: stop[row]! });
  const copied = copying(trace);
  return new Map(Array.from(spans, ([index, list]) => [index, merged([...list, ...copied])]));
});

/** Returns the times in which the program's thread copied results of local runs, in order. */
const copying = oncePer((trace: Trace): readonly Span[] => {
  const { nbytes, compressed } = trace.transfers;
  const rows = programTransfers(trace, 'gather').filter(
    (row) => nbytes[row]! >= MIN_BYTES && compressed[row] === 0,
  );
  return merged(transferSpans(trace, rows));
});

/**
 * Returns the seconds in which the program's thread copied results of local runs, at most those of the window. One thread
 * copies them with any number of workers.
 */
export function copiedSeconds(trace: Trace, window: Span): number {
  return overlapSeconds([window], copying(trace));
}

/**
 * Returns true if the recorder records transfers and sizes of results: if the trace has transfers between workers or over
 * connections, or if its workers have addresses. Workers of local schedulers have no addresses. Their traces have only
 * large copies by the program's thread.
 */
export function recordsTransfers(trace: Trace): boolean {
  checkArgument('recordsTransfers(): trace', trace, TRACE);
  const { workers, totals, transfers, strings } = trace;
  if (totals.pairs.some(({ from, to, compressed }) => (from >= 0 && to >= 0) || compressed > 0)) return true;
  if (transfers.compressed.some((compressed) => compressed > 0) || transfers.peer.some((peer) => peer >= 0))
    return true;
  return workers.address.some((address) => address >= 0 && strings.get(address) !== '');
}

const NONE: ReadonlySet<string> = new Set();

/**
 * Returns the prefixes with a result of unknown size, so that no sum of the others looks like the size of all. Empty for
 * clusters, which know all sizes.
 */
export const prefixesOfUnknownSize = oncePer((trace: Trace): ReadonlySet<string> => {
  if (recordsTransfers(trace)) return NONE;
  const { state, nbytes, prefix } = trace.tasks;
  const ids = new Set(prefix.filter((_id, row) => state[row] === TASK_MEMORY && Number.isNaN(nbytes[row]!)));
  return new Set(Array.from(ids, (id) => textOf(trace.strings, id)));
});
