// The metrics of one worker: those of its tasks, which its isolate sends, and those of its host, which moves and
// stores results. The host works while tasks run, so its seconds are not part of the tasks' seconds.
import type { Action, Transfer, WorkInterval } from '../../protocol/clusterObserver.js';
import { spanId, type TaskKind } from '../../protocol/metrics.js';
import { MetricLedger } from './metricLedger.js';

/** Context of the store's work: results are written because memory is full, and read for a peer or a task. */
const CONTEXT_OF: Partial<Record<Action, string>> = {
  'disk-write': 'memory-monitor',
  compress: 'memory-monitor',
  'disk-read': 'gather-dep',
  decompress: 'gather-dep',
};

export class WorkerDigests {
  /** `digestsTotal` of the worker. */
  readonly ledger = new MetricLedger();

  /** Counts work of the store. `cause` is the kind of the task that needed the result; undefined if none did. */
  interval({ action, start, stop, nbytes }: WorkInterval, cause?: TaskKind): void {
    const context = CONTEXT_OF[action] ?? 'get-data';
    this.#count(context, action, stop - start, nbytes, cause);
  }

  transfer({ direction, start, stop, nbytes }: Transfer): void {
    this.#count(direction === 'incoming' ? 'gather-dep' : 'get-data', 'network', stop - start, nbytes);
  }

  /** Counts a result that a batch needed and that was here. */
  memoryRead(nbytes: number, cause?: TaskKind): void {
    this.ledger.add([...keyOf('gather-dep', cause), 'memory-read', 'count'], 1);
    this.ledger.add([...keyOf('gather-dep', cause), 'memory-read', 'bytes'], nbytes);
  }

  /** Counts packed results that the isolate handed to the host's thread, which keeps and serves them. */
  handedOver({ count, nbytes }: { readonly count: number; readonly nbytes: number }, seconds: number): void {
    this.ledger.add(['get-data', 'offload', 'seconds'], Math.max(0, seconds));
    this.ledger.add(['get-data', 'offload', 'bytes'], nbytes);
    this.ledger.add(['get-data', 'offload', 'count'], count);
  }

  #count(context: string, activity: string, seconds: number, nbytes: number, cause?: TaskKind): void {
    const key = keyOf(context, cause);
    this.ledger.add([...key, activity, 'seconds'], seconds);
    this.ledger.add([...key, activity, 'bytes'], nbytes);
    this.ledger.add([...key, activity, 'count'], 1);
  }
}

function keyOf(context: string, cause: TaskKind | undefined): readonly string[] {
  return cause === undefined ? [context] : [context, spanId(cause.span), cause.prefix];
}
