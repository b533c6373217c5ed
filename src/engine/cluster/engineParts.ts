// The parts of a cluster's engine for the modules that the engine imports, and which therefore cannot import it.
import type { ClusterObserver } from '../../protocol/clusterObserver.js';
import type { GatherInput } from '../../protocol/packedResult.js';
import type { SchedulerEvent } from '../scheduler/events.js';
import type { Scheduler } from '../scheduler/scheduler.js';
import type { Segment } from '../scheduler/taskGraph.js';
import type { TaskRecorder } from '../taskRecorder.js';
import type { ComputationState } from './computationState.js';
import type { EngineWorker } from './engineWorker.js';
import type { SentArguments } from './sentArguments.js';
import type { StoredResults } from './storedResults.js';

export interface EngineParts {
  readonly scheduler: Scheduler;
  readonly workers: ReadonlyMap<number, EngineWorker>;
  readonly stored: StoredResults;
  readonly options: { readonly inlineBytes: number; readonly concurrentTasks?: number | undefined };
  readonly installed: { readonly size: number };
  readonly questions: { cancelled(worker: number, run: number, ids: Int32Array): void };
  readonly marksTasks: boolean;
  readonly hasObservers: boolean;
  readonly recorder: TaskRecorder;
  readonly sent: SentArguments;
  readonly clock: () => number;
  computation(number: number): ComputationState | undefined;
  computationOf(segment: Segment): ComputationState | undefined;
  locate(global: number): { computation: ComputationState; local: number } | undefined;
  /** Also for a computation that was forgotten recently. */
  firstIdOf(number: number): number | undefined;
  gatherInput(computation: ComputationState, local: number, id?: number): GatherInput;
  closeIfSettled(computation: ComputationState): void;
  forget(segment: Segment): void;
  explain(computation: ComputationState, local: number, error: unknown): void;
  handleEvent(event: SchedulerEvent): void;
  notify(call: (observer: ClusterObserver) => void): void;
  event(topic: string, text: string, worker?: number): void;
}

/** What a module needs to report metrics. */
export type MetricSink = Pick<EngineParts, 'hasObservers' | 'clock' | 'notify'>;
