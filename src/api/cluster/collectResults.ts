// What `compute` and `get` wait for: the results of a computation, in the order of the keys, as values.

import { bringResults } from '../../engine/cluster/bringResults.js';
import type { ClusterEngine } from '../../engine/cluster/clusterEngine.js';
import { type ComputationState, ResultHandle } from '../../engine/cluster/computationState.js';
import { abortedError } from '../../engine/taskFailure.js';
import type { Plan } from '../../graph/compile.js';
import type { AbortSignalLike } from '../../graph/computeOptions.js';

export interface Wanted {
  readonly plan: Plan;
  readonly keys: readonly string[];
  readonly signal: AbortSignalLike | undefined;
}

/**
 * Nobody wants the results at the workers after that, unless a future stands for them.
 *
 * @throws (rejects) the first error of the computation, or ERR_LONGPOLE_ABORTED
 */
export async function collectResults(
  engine: ClusterEngine,
  computation: ComputationState,
  { plan, keys, signal }: Wanted,
): Promise<unknown[]> {
  const locals = keys.map((key) => plan.ids.get(key));
  const places = locals.flatMap((local) =>
    local === undefined ? [] : [computation.imports.get(local) ?? { computation, local }],
  );
  // Held until the end: whoever has the future may let it go meanwhile. What is not asked for holds itself.
  const imports = places.filter((place) => place instanceof ResultHandle);
  for (const handle of imports) handle.references++;
  const settled = async (): Promise<void> => {
    await computation.done();
    for (const handle of imports) {
      await handle.settled();
      if (handle.status !== 'finished') throw handle.error;
    }
  };
  const abort = watchAbort(signal, computation);
  try {
    const values = await Promise.race([bringResults(engine, places, settled), abort.rejection]);
    let next = 0;
    return keys.map((key, index) => (locals[index] === undefined ? plan.data.get(key) : values[next++]));
  } finally {
    abort.forget();
    letGo(engine, computation, plan);
    for (const handle of imports) engine.results.release(handle);
  }
}

/**
 * Brings the results of futures, once all of them are there.
 *
 * @throws (rejects) the error of the first that has no result; ERR_LONGPOLE_FUTURE for one of another cluster
 */
export async function fetchResults(
  engine: ClusterEngine,
  handles: readonly ResultHandle[],
): Promise<unknown[]> {
  for (const handle of handles) engine.results.checkOwner(handle);
  const settled = async (): Promise<void> => {
    for (const handle of handles) {
      if (!handle.isSettled) await handle.settled();
      if (handle.status !== 'finished') throw handle.error;
    }
  };
  return bringResults(engine, handles, settled);
}

interface AbortWatch {
  readonly rejection: Promise<never>;
  forget(): void;
}

function watchAbort(signal: AbortSignalLike | undefined, { segment }: ComputationState): AbortWatch {
  let onAbort: (() => void) | undefined;
  const rejection = new Promise<never>((_resolve, reject) => {
    onAbort = () => reject(abortedError(signal?.reason, segment.size - segment.unfinished, segment.size));
    signal?.addEventListener('abort', onAbort);
  });
  rejection.catch(() => undefined);
  return {
    rejection,
    forget: () => {
      if (onAbort !== undefined) signal?.removeEventListener('abort', onAbort);
    },
  };
}

function letGo(engine: ClusterEngine, computation: ComputationState, { requested }: Plan): void {
  const locals: number[] = [];
  for (let local = 0; local < requested.length; local++)
    if (requested[local] === 1 && !computation.handles.has(local)) locals.push(local);
  engine.results.unwant(computation, locals);
}
