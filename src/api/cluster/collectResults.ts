// Fetches results for `compute`, `get` and `gather`.
import { bringResults, finished } from '../../engine/cluster/bringResults.js';
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
 * Waits for a computation and fetches its results. Afterwards the workers release the results, unless a future holds
 * them.
 *
 * @returns (resolves) the results in the order of `keys`
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
  // Held until the end, because the program may release these futures meanwhile. Other results need no reference.
  const imports = places.filter((place) => place instanceof ResultHandle);
  for (const handle of imports) handle.references++;
  const settled = async (): Promise<void> => {
    await computation.done();
    await finished(imports);
  };
  const abort = watchAbort(signal, computation);
  try {
    const values = await Promise.race([bringResults(engine, places, settled), abort.rejection]);
    let next = 0;
    return keys.map((key, index) => (locals[index] === undefined ? plan.data.get(key) : values[next++]));
  } finally {
    abort.forget();
    unwantResults(engine, computation, plan);
    for (const handle of imports) engine.results.release(handle);
  }
}

/**
 * Waits for the results of futures and fetches them.
 *
 * @param packed whether to return PackedResults, for another isolate; default false
 * @throws (rejects) the error of the first future without a result; ERR_LONGPOLE_FUTURE for a future of another cluster
 */
export async function fetchResults(
  engine: ClusterEngine,
  handles: readonly ResultHandle[],
  packed = false,
): Promise<unknown[]> {
  for (const handle of handles) engine.results.checkOwner(handle);
  return bringResults(engine, handles, () => finished(handles), packed);
}

function watchAbort(signal: AbortSignalLike | undefined, { segment }: ComputationState) {
  let forget = (): void => undefined;
  const rejection = new Promise<never>((_resolve, reject) => {
    const onAbort = (): void =>
      reject(abortedError(signal?.reason, segment.size - segment.unfinished, segment.size));
    signal?.addEventListener('abort', onAbort);
    forget = () => signal?.removeEventListener('abort', onAbort);
  });
  rejection.catch(() => undefined);
  return { rejection, forget };
}

function unwantResults(engine: ClusterEngine, computation: ComputationState, { requested }: Plan): void {
  const locals: number[] = [];
  for (let local = 0; local < requested.length; local++)
    if (requested[local] === 1 && !computation.handles.has(local)) locals.push(local);
  engine.results.unwant(computation, locals);
}
