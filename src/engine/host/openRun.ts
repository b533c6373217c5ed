// One computation on a worker. Passes its batches to the isolate when their inputs are available, and forwards the
// isolate's reports.
import { isError } from '../../base/errors.js';
import type { CompletionColumns } from '../../protocol/completionLog.js';
import { type Batch, NO_IDS, type PackedValues, type Values } from '../../protocol/isolateMessages.js';
import type { WorkerRun } from '../../protocol/workerMessages.js';
import type { RunHandler } from '../pool/isolate.js';
import type { ThreadIsolate } from '../pool/threadIsolate.js';
import { BatchGate, type GatherOutcome } from './batchGate.js';
import type { HostEvents, RunDump } from './hostTypes.js';
import { sendBatch } from './sendBatch.js';

/** The parts of the worker that a run uses. */
export interface RunHost {
  readonly events: HostEvents;
  readonly isolate: ThreadIsolate;
  /** Number of the current isolate. */
  readonly generation: number;
  /** Ends the isolate, so that the scheduler sends its tasks again. */
  restart(cause: Error): void;
  /** Called when a batch was sent to the isolate. */
  passed(run: OpenRun, batch: Batch, outcome: GatherOutcome): void;
  finished(spec: WorkerRun, columns: CompletionColumns, values: ReadonlyMap<number, unknown>): void;
  fetched(spec: WorkerRun, values: Values, missing: Int32Array, packed: PackedValues): void;
  /** Called once per open run when the isolate has ended. */
  isolateLost(cause: Error): void;
}

export class OpenRun {
  readonly spec: WorkerRun;
  readonly gate: BatchGate;
  readonly #host: RunHost;
  #claims: Int32Array = NO_IDS;
  #generation = -1;
  #stolenBefore: readonly number[] = [];
  readonly #handler: RunHandler = {
    finished: (_isolate, columns, values) => this.#host.finished(this.spec, columns, values),
    fetched: (_isolate, values, missing, packed) => this.#host.fetched(this.spec, values, missing, packed),
    fetchFailed: (_isolate, id, error) => this.#host.events.fetchFailed(this.spec.run, id, error),
    stolen: (_isolate, ids) => this.#host.events.stolen(this.spec.run, [...this.#stolenBefore, ...ids]),
    lost: (_isolate, _running, cause) => this.#host.isolateLost(cause),
  };

  constructor(host: RunHost, spec: WorkerRun) {
    this.#host = host;
    this.spec = spec;
    this.gate = new BatchGate(spec.program, {
      pass: (batch, outcome, admitted) => this.#pass(batch, outcome, admitted),
      failed: (error) => host.restart(isError(error) ? error : new Error(String(error))),
    });
  }

  /** Whether the run is open in the current isolate. */
  get isOpen(): boolean {
    return this.#generation === this.#host.generation;
  }

  hasBegun(id: number): boolean {
    return this.#claims[id]! < 0;
  }

  dump(): RunDump {
    const claims = this.#claims.subarray(0, this.spec.program.size);
    const offered = Array.from(claims.keys()).filter((id) => claims[id]! > 0);
    return {
      run: this.spec.run,
      isOpen: this.isOpen,
      waiting: this.gate.size,
      offered: offered.length,
      firstOffered: offered[0],
      begun: claims.reduce((count, claim) => count + (claim < 0 ? 1 : 0), 0),
    };
  }

  /** Steals from the isolate. Its answer includes `ids`, which the gate has already given back. */
  stolenBefore(ids: readonly number[], steal: () => void): void {
    this.#stolenBefore = ids;
    steal();
    this.#stolenBefore = [];
  }

  #pass(batch: Batch, outcome: GatherOutcome, admitted: Batch): void {
    const { missing } = outcome;
    // The loss is reported first. Otherwise the scheduler would resend the skipped tasks before it has the report.
    if (missing.length > 0) this.#host.events.gatherFailed(this.spec.run, missing);
    if (!this.isOpen) {
      this.#claims = this.#host.isolate.open(this.spec, this.#handler);
      this.#generation = this.#host.generation;
    }
    sendBatch(
      withGathered(batch, outcome),
      (cloneable) => this.#host.isolate.dispatch(cloneable),
      structuredClone,
    );
    this.#host.passed(this, admitted, outcome);
  }
}

function withGathered(batch: Batch, { results, missing }: GatherOutcome): Batch {
  if (results.size === 0 && missing.length === 0) return batch;
  const packed = { ids: Int32Array.from(results.keys()), results: [...results.values()] };
  return { ...batch, gather: [], packed, lacking: Int32Array.from(missing, ({ id }) => id) };
}
