// Rows of a live trace as batches of runs of one computation, which is the form that encoders take.
import { recordOf } from '../../base/lookUps.js';
import type { Computation, TaskRuns } from '../../protocol/clusterObserver.js';
import type { StringTable } from '../stringTable.js';
import type { LiveComputation } from './liveComputations.js';
import type { SharedNames } from './taskPages.js';
import { MEASURED, type TaskPiece } from './taskWindow.js';

const NO_INTEGERS = new Int32Array(0);
const NO_NUMBERS = new Float64Array(0);

export class NameLists implements SharedNames {
  readonly texts: string[] = [];
  readonly paths: (readonly string[])[] = [];

  update(names: StringTable): void {
    for (let id = this.texts.length; id < names.length; id++) {
      const text = names.get(id);
      this.texts.push(text);
      this.paths.push([text]);
    }
  }
}

/** Yields the runs of `pieces`. The arrays are views and stay valid, because rows never change. Edges are left out. */
export function* runsOf(
  pieces: readonly TaskPiece[],
  names: SharedNames,
  typeNames: readonly string[],
): Generator<TaskRuns> {
  let known: { readonly live: LiveComputation; readonly computation: Computation } | undefined;
  for (const { chunk, from, to } of pieces) {
    for (const segment of chunk.segments(from, to)) {
      const { computation: live, worker, acknowledged } = segment;
      if (known?.live !== live) known = { live, computation: computationOf(live, names) };
      const part = <A extends { subarray(from: number, to: number): A }>(column: A): A =>
        column.subarray(segment.from, segment.to);
      yield {
        computation: known.computation,
        worker,
        count: segment.to - segment.from,
        ...(chunk.threads === undefined ? {} : { threads: part(chunk.threads) }),
        ...(chunk.coreWaits === undefined ? {} : { coreWaits: part(chunk.coreWaits) }),
        ...(chunk.seceded === undefined ? {} : { seceded: part(chunk.seceded) }),
        ...(chunk.resumed === undefined ? {} : { resumed: part(chunk.resumed) }),
        ...(chunk.waited === undefined ? {} : { waited: part(chunk.waited) }),
        ids: part(chunk.ids),
        states: part(chunk.state),
        types: part(chunk.type),
        typeNames,
        attempts: part(chunk.attempt),
        ...recordOf(MEASURED, (name) => part(chunk[name])),
        acknowledged,
      };
    }
  }
}

function computationOf(live: LiveComputation, names: SharedNames): Computation {
  const { number, firstId, size, start, submitted, client, code, page, slot } = live;
  return {
    ...page.named(slot, size, names),
    number,
    firstId,
    size,
    submitted,
    called: start,
    client,
    code,
    dependencyOffsets: NO_INTEGERS,
    dependencies: NO_INTEGERS,
    externals: NO_NUMBERS,
  };
}
