// Finds the transfers between the program and the workers: arguments, scattered data and fetched results.
import { firstWhere, oncePer, pushTo } from '../base/lookUps.js';
import { DIRECTIONS, TRANSFER_KINDS, type Trace } from '../trace/trace.js';
import { merged, type Span } from './spans.js';

/** Bytes from which tasks wait for a transfer. If fewer take long, something else holds them up, e.g. a blocked event loop. */
const MIN_BYTES = 100e3;

/** Returns the rows of transfers to the workers (`scatter`) or from them (`gather`). */
export function programTransfers({ transfers }: Trace, what: 'scatter' | 'gather'): number[] {
  const kind = TRANSFER_KINDS.indexOf(what);
  const direction = DIRECTIONS.indexOf(what === 'scatter' ? 'incoming' : 'outgoing');
  const rows: number[] = [];
  for (let row = 0; row < transfers.length; row++)
    if (transfers.what[row] === kind && transfers.peer[row]! < 0 && transfers.direction[row] === direction)
      rows.push(row);
  return rows;
}

/** Returns the times between `from` and `to` in which the worker received data of the program, the last one first. */
export function receivingSpans(trace: Trace, worker: number, from: number, to: number): Span[] {
  const spans = receiving(trace).get(worker) ?? [];
  const end = firstWhere(0, spans.length, (at) => spans[at]!.start >= to);
  const first = firstWhere(0, end, (at) => spans[at]!.stop > from);
  return spans.slice(first, end).reverse();
}

/** Returns the spans by worker, in order. */
const receiving = oncePer((trace: Trace): ReadonlyMap<number, readonly Span[]> => {
  const { worker, start, stop, nbytes } = trace.transfers;
  const spans = new Map<number, Span[]>();
  for (const row of programTransfers(trace, 'scatter'))
    if (nbytes[row]! >= MIN_BYTES) pushTo(spans, worker[row]!, { start: start[row]!, stop: stop[row]! });
  return new Map(Array.from(spans, ([index, list]) => [index, merged(list)]));
});
