// The interface of a worker towards the engine.
import type { MemorySample, WorkerInfo } from '../../protocol/clusterObserver.js';
import type { HostFacts, WorkerHost } from '../host/hostTypes.js';

/** Tasks of a run, by local id. */
export interface RunTasks {
  readonly run: number;
  readonly ids: Int32Array;
}

export interface EngineWorker {
  readonly info: WorkerInfo;
  /** Address at which peers reach the worker's store. */
  readonly address: string;
  readonly host: WorkerHost;
  /** Undefined until the worker is up. */
  readonly facts: HostFacts | undefined;
  /** Resolves when the worker is up, or has left before; rejects if it dies before. */
  readonly started: Promise<void>;
  /** Whether the worker's memory is above the pause threshold. */
  readonly isPaused: boolean;
  /** Why the results in the worker's full memory cannot be spilled. `still`: the memory has been full for a while. */
  readonly full: { readonly why: Error; readonly still: boolean } | undefined;
  /** Whether the worker only finishes its tasks, hands over its results and ends. */
  readonly isLeaving: boolean;
  readonly memorySample: MemorySample | undefined;
  /** Marks the worker as removed. Later messages from it are ignored. */
  leave(): void;
  /** Takes back tasks that the worker has not begun, and reports them to the scheduler in one event. */
  steal(parts: readonly RunTasks[], thief: number | undefined): void;
  /** Records the error of a task during which `attempts` workers have died. */
  killed(global: number, attempts: number): void;
}

/** Returns the address of a Longpole worker on a Dask worker, which differs from that of the Dask worker in a trace. */
export function onDask(address: string): string {
  return `longpole+${address}`;
}

/** Whether `name` is the name or an address of this worker. */
export function isCalled({ info, address }: EngineWorker, name: string): boolean {
  return [name, onDask(name)].includes(info.address) || info.name === name || address === name;
}

/**
 * Returns the names of the workers of a policy; null: all. Replaces the address of a present worker by its name. A name
 * without a present worker stays, because a worker of that name may join later.
 */
export function namesIn(
  workers: ReadonlySet<string> | null | undefined,
  present: Iterable<EngineWorker>,
): ReadonlySet<string> | null {
  if (!workers) return null;
  const all = [...present];
  return new Set(Array.from(workers, (one) => all.find((worker) => isCalled(worker, one))?.info.name ?? one));
}
