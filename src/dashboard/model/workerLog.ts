// The log of one worker: its newest transfers, and the last call stack that the profiler sampled in a task.
import { textOf, workerName } from '../../trace/names.js';
import { DIRECTIONS, TRANSFER_KINDS, type Trace } from '../../trace/trace.js';

export interface TransferEntry {
  /** Epoch seconds. */
  readonly start: number;
  readonly stop: number;
  /** Name of the other worker, or `client`. */
  readonly peer: string;
  readonly what: string;
  /** First key, and number of keys. */
  readonly key: string;
  readonly keys: number;
  readonly nbytes: number;
  readonly compressed: number;
  /** Requests before this transfer on its connection; NaN if not measured. */
  readonly ahead: number;
}

const MAX_ENTRIES = 200;

/** Returns the newest transfers first. `count` is the number of all transfers in the trace. */
export function transferLog(
  trace: Trace,
  worker: number,
  direction: (typeof DIRECTIONS)[number],
): { readonly entries: readonly TransferEntry[]; readonly count: number } {
  const { transfers, keys } = trace;
  const side = DIRECTIONS.indexOf(direction);
  const entries: TransferEntry[] = [];
  let count = 0;
  for (let row = transfers.length - 1; row >= 0; row--) {
    if (transfers.worker[row] !== worker || transfers.direction[row] !== side) continue;
    count++;
    if (entries.length >= MAX_ENTRIES) continue;
    const [from, to] = [transfers.keyOffsets[row]!, transfers.keyOffsets[row + 1]!];
    const peer = transfers.peer[row]!;
    entries.push({
      start: transfers.start[row]!,
      stop: transfers.stop[row]!,
      peer: peer < 0 ? 'client' : workerName(trace, peer),
      what: TRANSFER_KINDS[transfers.what[row]!] ?? '',
      key: to > from ? keys.get(transfers.keys[from]!) : '',
      keys: to - from,
      nbytes: transfers.nbytes[row]!,
      compressed: transfers.compressed[row]!,
      ahead: transfers.ahead[row]!,
    });
  }
  return { entries, count };
}

/** Returns the newest sampled call stack of a task on a worker, innermost function first; undefined without samples. */
export function callStackOf(
  { samples, frames, strings }: Trace,
  worker: number,
  task: number,
): { readonly time: number; readonly lines: readonly string[] } | undefined {
  for (let row = samples.length - 1; row >= 0; row--) {
    if (samples.worker[row] !== worker || samples.task[row] !== task) continue;
    const lines: string[] = [];
    let line = samples.line[row]!;
    for (let at = samples.frame[row]!; at >= 0; at = frames.parent[at]!) {
      const place = textOf(strings, frames.file[at]);
      const where = line > 0 ? line : frames.line[at]!;
      lines.push(
        `${textOf(strings, frames.functionName[at]) || '(anonymous)'}${place === '' ? '' : ` (${place}:${where})`}`,
      );
      line = 0;
    }
    return { time: samples.time[row]!, lines };
  }
  return undefined;
}
