// Short forms of messages to a worker process about one task, see shortMessages.ts.
import type { Batch } from './isolateMessages.js';
import { columnOf, MANY, packKinds, packProgram, unpackProgram } from './shortMessages.js';
import type { PackedBatch, PackedRun, WorkerRun } from './workerMessages.js';

export function packRun(run: WorkerRun): PackedRun {
  return { ...run, program: packProgram(run.program), kinds: packKinds(run.kinds) };
}

export function unpackRun(run: PackedRun): WorkerRun {
  return { ...run, program: unpackProgram(run.program) };
}

/** @param isolate see `Batch.isolate` */
export function packWorkerBatch(batch: Batch, isolate: number): PackedBatch {
  const { ids, publish, keep } = batch;
  if (ids.length >= MANY || keep.length >= MANY) return { ...batch, isolate };
  return { ...batch, isolate, ids: [...ids], publish: [...publish], keep: [...keep] };
}

export function unpackWorkerBatch(batch: PackedBatch): Batch {
  const { ids, publish, keep } = batch;
  return { ...batch, ids: columnOf(ids), publish: flagsOf(publish), keep: columnOf(keep) };
}

function flagsOf(flags: Uint8Array | readonly number[]): Uint8Array {
  return flags instanceof Uint8Array ? flags : Uint8Array.from(flags);
}
