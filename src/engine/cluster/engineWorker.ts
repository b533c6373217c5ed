// A worker as the engine sees it.
import type { MemorySample, WorkerInfo } from '../../protocol/clusterObserver.js';
import type { HostFacts, RunTask, WorkerHost } from '../host/hostTypes.js';
import type { RunTasks } from './stealing.js';

export interface EngineWorker {
  readonly info: WorkerInfo;
  /** Where peers reach its store. */
  readonly address: string;
  readonly host: WorkerHost;
  /** Undefined: it is not up yet. */
  readonly facts: HostFacts | undefined;
  /** Resolves when the worker is up, or has left before; rejects if it dies before. */
  readonly started: Promise<void>;
  /** Its memory is full. */
  readonly isPaused: boolean;
  /** Its memory is full of results that cannot be spilled, and why; `still`: it was for a while. */
  readonly full: { readonly why: Error; readonly still: boolean } | undefined;
  /** It finishes what it has, hands its results on, and ends. */
  readonly isLeaving: boolean;
  /** What it runs now, as far as known. */
  readonly current: RunTask | undefined;
  /** When that began, in seconds since the epoch; 0: not known. */
  readonly currentSince: number;
  readonly memorySample: MemorySample | undefined;
  /** It counts no more: what it still says is not heard. */
  leave(): void;
  /** Takes back what it has not begun; the scheduler hears once what that was. */
  steal(parts: readonly RunTasks[]): void;
  /** The scheduler gives a task up that was running too often when its worker died. */
  killed(global: number, attempts: number): void;
}

/** The address, in a trace, of a worker of this program at a Dask worker: not one of a worker that runs Dask's own tasks. */
export function onDask(address: string): string {
  return `longpole+${address}`;
}

/** Whether somebody who says `name` means this worker: its name, or an address of it. */
export function isCalled({ info, address }: EngineWorker, name: string): boolean {
  return [name, onDask(name)].includes(info.address) || info.name === name || address === name;
}
