// The shell around the scheduler of a cluster. Requests of clients and reports of workers become events, and the
// scheduler's instructions become messages. The engine runs no task and never blocks, so it stays responsive.

import { hostname } from 'node:os';
import { internalError, isError, releaseStack } from '../../base/errors.js';
import { once } from '../../base/lookUps.js';
import type { ClusterObserver, Computation } from '../../protocol/clusterObserver.js';
import { TASK_FAILED } from '../../protocol/eventTopics.js';
import type { GatherInput, ResultId } from '../../protocol/packedResult.js';
import { computationInfo } from '../computationInfo.js';
import { TaskKindIndex } from '../metrics/taskKindIndex.js';
import { OpenWaits } from '../openWaits.js';
import { PrefixTable } from '../prefixTable.js';
import type { GraphAdded, Instruction, SchedulerEvent } from '../scheduler/events.js';
import { Scheduler, type SchedulerOptions } from '../scheduler/scheduler.js';
import type { Segment } from '../scheduler/taskGraph.js';
import { schedulerGraph } from '../schedulerGraph.js';
import { failureText } from '../taskFailure.js';
import { TaskRecorder } from '../taskRecorder.js';
import { epochOffsetMs, isolateClock } from '../worker/isolateClock.js';
import type { ComputationRequest } from './computationRequest.js';
import { ComputationState } from './computationState.js';
import { Coordination } from './coordination/coordination.js';
import { type EngineWorker, namesIn } from './engineWorker.js';
import { FullWorkers } from './fullWorkers.js';
import { importedResults } from './importedResults.js';
import { Installations } from './installations.js';
import { InstructionRunner } from './instructionRunner.js';
import { keepAlive } from './keepAlive.js';
import { noWorkerWarning } from './noWorkerWarning.js';
import { ResultHandles } from './resultHandles.js';
import { SentArguments } from './sentArguments.js';
import { StoredResults } from './storedResults.js';
import { TaskQuestions } from './taskQuestions.js';

export interface ClusterEngineOptions extends Pick<SchedulerOptions, 'allowedFailures' | 'concurrentTasks'> {
  readonly threads: boolean;
  /** Largest result, in bytes, that travels inside the message that reports its task as finished. */
  readonly inlineBytes: number;
  /** Whether workers can run tasks in Python. Default false. */
  readonly runsPython?: boolean;
  /** Seconds between two reports of the profiler. Default: workers are not profiled. */
  readonly profileCycle?: number | undefined;
}

const MAX_FORGOTTEN = 1000;
/** Time between two attempts to give waiting tasks to idle workers; as in Dask. */
const IDLE_CHECK_MS = 100;

export class ClusterEngine {
  readonly scheduler: Scheduler;
  readonly options: ClusterEngineOptions;
  /** Seconds since the epoch. */
  readonly clock: () => number;
  readonly epochOffsetMs = epochOffsetMs();
  readonly host = hostname();
  readonly workers = new Map<number, EngineWorker>();
  readonly results = new ResultHandles(this);
  readonly stored = new StoredResults();
  readonly fullWorkers = new FullWorkers(this);
  readonly recorder: TaskRecorder;
  /** Calls of clients that have not returned yet. */
  readonly waits = new OpenWaits();
  readonly sent: SentArguments;
  /** Prefix and span of each task, to which the profiler assigns its samples. */
  readonly kinds: TaskKindIndex;
  /** Plugins of workers. An isolate installs them before it receives its first task. */
  readonly installed = new Installations(this);
  readonly questions = new TaskQuestions(this);
  /** Objects that tasks and clients share by name. */
  readonly coordination = new Coordination(this.questions, this.results, this);
  /** Called after an event and all its instructions have been carried out. */
  afterEvent: (() => void) | undefined;
  /** Whether workers mark tasks as NVTX ranges. Applies to computations that are opened on a worker afterwards. */
  marksTasks = false;
  /** Called when an observer is added or removed. */
  onObservers: () => void = () => undefined;
  /** Observers, each with the number of calls of `observe` that have not ended. */
  readonly #observers = new Map<ClusterObserver, number>();
  readonly #computations = new Map<number, ComputationState>();
  readonly #bySegment = new Map<Segment, ComputationState>();
  readonly #warnIfNoWorker = noWorkerWarning(this);
  readonly #prefixes = new PrefixTable();
  readonly #runner = new InstructionRunner(this);
  /** Number → `firstId` of the computations that were forgotten last. Workers may still report on their tasks. */
  readonly #forgotten = new Map<number, number>();
  readonly #keepAlive = keepAlive(() => this.handleEvent({ type: 'idle-check' }), IDLE_CHECK_MS);
  readonly #pending: Instruction[] = [];
  /** The computation that was added last, until observers are notified of it. */
  #unannounced: Computation | undefined;
  #executing = false;
  #nextNumber = 1;
  #nextId = 0;
  /** Type of event → number of events, and seconds that the scheduler's thread was busy with them. */
  readonly stimuli = new Map<string, { count: number; seconds: number }>();

  constructor(options: ClusterEngineOptions) {
    this.options = options;
    this.clock = isolateClock(this.epochOffsetMs);
    this.kinds = new TaskKindIndex(this.clock, options.profileCycle);
    this.scheduler = new Scheduler(null, options);
    this.recorder = new TaskRecorder((call) => this.notify(call));
    this.sent = new SentArguments(options.threads, (transfer) =>
      this.notify((observer) => observer.transfer?.(transfer)),
    );
  }

  get wantsResources(): boolean {
    return [...this.#observers.keys()].some(({ resources }) => resources !== undefined);
  }

  get hasObservers(): boolean {
    return this.#observers.size > 0;
  }

  observe(observer: ClusterObserver): () => void {
    this.#announce();
    const count = (by: number): number => (this.#observers.get(observer) ?? 0) + by;
    const isFirst = count(0) === 0;
    this.#observers.set(observer, count(1));
    if (isFirst) {
      for (const computation of this.#computations.values()) observer.computationAdded?.(computation.info);
      for (const worker of this.workers.values()) observer.workerAdded?.(worker.info);
    }
    this.onObservers();
    return once(() => {
      if (count(-1) > 0) this.#observers.set(observer, count(-1));
      else this.#observers.delete(observer);
      this.onObservers();
    });
  }

  /** Calls every observer. If an observer throws, the others are still called and receive the error as an event. */
  notify(call: (observer: ClusterObserver) => void): void {
    this.#announce();
    for (const observer of this.#observers.keys()) {
      try {
        call(observer);
      } catch (error) {
        const text = isError(error) ? (error.stack ?? error.message) : String(error);
        if (observer.event !== undefined && this.#observers.size > 0)
          for (const other of this.#observers.keys())
            if (other !== observer)
              other.event?.({ time: this.clock(), worker: -1, topic: 'observer-error', text });
      }
    }
  }

  /** Notifies observers of the added computation. Workers have its first batches by then and already compute. */
  #announce(): void {
    const info = this.#unannounced;
    this.#unannounced = undefined;
    if (info !== undefined) this.notify((observer) => observer.computationAdded?.(info));
  }

  event(topic: string, text: string, worker = -1, time = this.clock()): void {
    this.notify((observer) => observer.event?.({ time, worker, topic, text }));
  }

  /** Adds a graph. Its requested results are kept until `results.unwant`. */
  add(request: ComputationRequest): ComputationState {
    const { plan, data, timeout = 0 } = request;
    const { imports, origins } = importedResults(plan, this.results);
    const number = this.#nextNumber++;
    const firstId = data?.firstId ?? this.reserveIds(plan.program.size);
    const prefixes = this.#prefixes.of(plan.keys);
    const graph = schedulerGraph(plan, prefixes.numbers, this.#prefixes.size);
    const { priority = 0, retries = 0, resources = null, workers } = request.policy ?? {};
    const policy = {
      priority,
      retries,
      resources,
      workers: namesIn(workers, this.workers.values()),
      limited: timeout > 0,
      data: data !== undefined,
    };
    const event: GraphAdded = { type: 'graph-added', graph, policy, imports: origins };
    const submitted = this.clock();
    const info = computationInfo(request, { number, firstId, prefixes, imports, submitted });
    let added: ComputationState | undefined;
    this.#handle(
      data === undefined ? event : { ...event, holders: data.holders, nbytes: data.nbytes },
      (segment) => {
        const computation = new ComputationState({
          plan,
          segment,
          info,
          functions: request.functions,
          timeout,
          imports,
          results: data?.results,
        });
        added = computation;
        this.#computations.set(number, computation);
        this.#bySegment.set(segment, computation);
        if (data !== undefined) this.#addData(computation, data.holders);
        this.kinds.added(info, computation.kinds);
        this.#announce();
        this.#unannounced = info;
      },
    );
    this.#warnIfNoWorker(policy);
    if (added === undefined) throw internalError('A graph was added, but has no segment.');
    // A graph without tasks has nothing whose release would end it.
    if (plan.program.size === 0) this.forget(added.segment);
    return added;
  }

  get computations(): Iterable<ComputationState> {
    return this.#computations.values();
  }

  computation(number: number): ComputationState | undefined {
    return this.#computations.get(number);
  }

  computationOf(segment: Segment): ComputationState | undefined {
    return this.#bySegment.get(segment);
  }

  /** Returns the computation of a task, given the scheduler's id of the task. */
  locate(global: number): { computation: ComputationState; local: number } | undefined {
    const segment = this.scheduler.state.graph.segmentOf(global);
    const computation = this.#bySegment.get(segment);
    return computation && { computation, local: global - segment.base };
  }

  /** Returns `firstId` of a computation, even if the computation was forgotten recently. */
  firstIdOf(run: number): number | undefined {
    return this.#computations.get(run)?.info.firstId ?? this.#forgotten.get(run);
  }

  keyOf(result: ResultId): string | undefined {
    const found = this.#find(result);
    return found?.info.keys[result - found.info.firstId];
  }

  /** Reports that a worker lacks a result that the scheduler had located there. */
  resultMissing(worker: number, result: ResultId): void {
    const found = this.#find(result);
    if (found === undefined) return;
    const id = found.segment.base + result - found.info.firstId;
    this.handleEvent({ type: 'results-missing', worker, ids: [id] });
  }

  /** Records that a worker has copies of stored results in its store. */
  hasCopies(worker: number, inputs: readonly { readonly result: ResultId }[]): void {
    const { state } = this.scheduler;
    for (const { result } of inputs) {
      this.stored.add(result, worker);
      const found = this.#find(result);
      const known = state.workers.get(worker);
      if (found === undefined || known === undefined) continue;
      const id = found.segment.base + result - found.info.firstId;
      if (state.location[id] !== worker) known.storeCopies.add(id);
    }
  }

  /** Reserves ids for results that are sent to workers before their computation is added. */
  reserveIds(count: number): number {
    const firstId = this.#nextId;
    this.#nextId += count;
    return firstId;
  }

  /** Fails all computations, because no worker is left. */
  failEverything(error: unknown): void {
    for (const computation of [...this.#computations.values()]) computation.cancel(error);
  }

  /** Cancels all computations. Their tasks stop, and the workers release their results. */
  cancelEverything(error: unknown): void {
    for (const computation of [...this.#computations.values()]) {
      const { base, size } = computation.segment;
      const { requested } = this.scheduler.state.graph;
      const locals = Array.from({ length: size }, (_, local) => local);
      computation.cancel(error);
      this.results.unwant(
        computation,
        locals.filter((local) => requested[base + local] === 1),
      );
    }
  }

  close(): void {
    this.#keepAlive(false);
  }

  #find(result: ResultId): ComputationState | undefined {
    for (const computation of this.#computations.values()) {
      const { firstId, size } = computation.info;
      if (result >= firstId && result < firstId + size) return computation;
    }
    return undefined;
  }

  /** Records why a run of a task failed. Clients get this error if the scheduler does not retry the task. */
  explain(computation: ComputationState, local: number, error: unknown): void {
    releaseStack(error);
    computation.reasons.set(local, error);
    if (this.hasObservers) this.event(TASK_FAILED, failureText(error));
  }

  /** Returns the id and the location of a stored result, as a worker needs them to fetch it. */
  gatherInput(computation: ComputationState, local: number, id = local): GatherInput {
    const { state } = this.scheduler;
    const global = computation.segment.base + local;
    const from = state.location[global]!;
    return {
      id,
      result: computation.resultId(local),
      key: computation.info.keys[local]!,
      nbytes: state.nbytes[global]!,
      from,
      address: this.workers.get(from)?.address ?? '',
    };
  }

  handleEvent(event: SchedulerEvent): void {
    this.#handle(event);
  }

  #handle(event: SchedulerEvent, before?: (segment: Segment) => void): void {
    const { scheduler } = this;
    const start = this.clock();
    scheduler.state.now = start;
    const instructions = scheduler.handle(event);
    if (before !== undefined) before(scheduler.lastSegment!);
    for (const one of instructions) this.#pending.push(one);
    if (!this.#executing) this.#carryOutAll();
    const stimulus = this.stimuli.get(event.type) ?? { count: 0, seconds: 0 };
    this.stimuli.set(event.type, stimulus);
    stimulus.count++;
    stimulus.seconds += this.clock() - start;
  }

  #carryOutAll(): void {
    this.#executing = true;
    const thrown = this.#runner.carryOutAll(this.#pending);
    this.#pending.length = 0;
    this.#executing = false;
    this.#announce();
    this.#reportArrivals();
    this.#keepAlive(this.scheduler.state.canContinue);
    this.afterEvent?.();
    this.scheduler.compact();
    if (thrown.length > 0) throw thrown[0];
  }

  #reportArrivals(): void {
    for (const { id, there } of this.scheduler.takeArrivals()) {
      const segment = this.scheduler.state.graph.segmentOf(id);
      this.#bySegment.get(segment)?.arrived(id - segment.base, there);
    }
  }

  /** Closes a computation at its isolates once all its tasks have ended. A lost result opens it again. */
  closeIfSettled(computation: ComputationState): void {
    if (computation.segment.unfinished > 0 || computation.opened.size === 0) return;
    for (const index of computation.opened) this.workers.get(index)?.host.close(computation.info.number);
    computation.opened.clear();
    this.scheduler.forgetCopies(computation.segment);
  }

  /** Forgets the computation of a segment: no client and no other computation needs its results or its lineage. */
  forget(segment: Segment): void {
    const computation = this.#bySegment.get(segment);
    if (computation === undefined) return;
    this.closeIfSettled(computation);
    this.#bySegment.delete(segment);
    this.#computations.delete(computation.info.number);
    this.#forgotten.set(computation.info.number, computation.info.firstId);
    const [oldest] = this.#forgotten.keys();
    if (this.#forgotten.size > MAX_FORGOTTEN) this.#forgotten.delete(oldest!);
    this.kinds.forgotten(computation.info);
    computation.clear();
    this.notify((observer) => observer.computationForgotten?.(computation.info));
    for (const from of segment.importsFrom) if (from.dead) this.forget(from);
  }

  #addData(computation: ComputationState, holders: Int32Array): void {
    for (let local = 0; local < holders.length; local++) {
      if (holders[local]! >= 0) this.stored.add(computation.resultId(local), holders[local]!);
      computation.arrived(local, true);
    }
  }
}
