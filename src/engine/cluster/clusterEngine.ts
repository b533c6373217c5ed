// The cluster: the shell around the scheduler that lasts. Requests of clients and reports of workers become events,
// instructions become messages. It computes nothing and waits for nothing, so it always answers.

import { hostname } from 'node:os';
import { LongpoleError, releaseFrames } from '../../base/errors.js';
import { isError } from '../../base/isError.js';
import type { ClusterObserver, Computation } from '../../protocol/clusterObserver.js';
import type { ResultId } from '../../protocol/frames.js';
import { computationInfo } from '../computationInfo.js';
import type { GatherInput } from '../host/hostTypes.js';
import { TaskKindIndex } from '../metrics/taskKindIndex.js';
import { OpenWaits } from '../openWaits.js';
import { PrefixTable } from '../prefixTable.js';
import type { Instruction, SchedulerEvent } from '../scheduler/events.js';
import { Scheduler } from '../scheduler/scheduler.js';
import type { Segment, SegmentPolicy } from '../scheduler/taskGraph.js';
import { schedulerGraph } from '../schedulerGraph.js';
import { failureText } from '../taskFailure.js';
import { TaskRecorder } from '../taskRecorder.js';
import { epochOffsetMs, isolateClock } from '../worker/isolateClock.js';
import type { ComputationRequest } from './computationRequest.js';
import { ComputationState, handleOf, type ResultHandle } from './computationState.js';
import { type EngineWorker, isCalled } from './engineWorker.js';
import { FullWorkers } from './fullWorkers.js';
import { Installations } from './installations.js';
import { InstructionRunner } from './instructionRunner.js';
import { KeepAlive } from './keepAlive.js';
import { NoWorkerWarning } from './noWorkerWarning.js';
import { ResultHandles } from './resultHandles.js';
import { SentArguments } from './sentArguments.js';
import { StoredResults } from './storedResults.js';

export interface ClusterEngineOptions {
  readonly threads: boolean;
  readonly allowedFailures: number;
  /** Results up to this many bytes travel with the message that says that their task has finished. */
  readonly inlineBytes: number;
}

const MAX_FORGOTTEN = 1000;

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
  /** What clients wait for. */
  readonly waits = new OpenWaits();
  readonly sent: SentArguments;
  /** What samples of the profiler count for. */
  readonly kinds = new TaskKindIndex();
  /** Plugins of workers. Installed before an isolate hears of later tasks. */
  readonly installed = new Installations(this);
  /** Called when an event and all that follows from it is done. */
  afterEvent: (() => void) | undefined;
  /** Tasks of computations that are sent to a worker from now on are marked as NVTX ranges there. */
  marksTasks = false;
  /** Called when observers come and go. */
  onObservers: () => void = () => undefined;
  readonly #observers = new Set<ClusterObserver>();
  readonly #computations = new Map<number, ComputationState>();
  readonly #bySegment = new Map<Segment, ComputationState>();
  readonly #noWorker = new NoWorkerWarning(this);
  readonly #prefixes = new PrefixTable();
  readonly #runner = new InstructionRunner(this);
  /** Number → `firstId` of the computations that were forgotten last: workers may still report on them. */
  readonly #forgotten = new Map<number, number>();
  readonly #keepAlive = new KeepAlive();
  readonly #pending: Instruction[] = [];
  /** Taken in, and not yet told of. */
  #unannounced: Computation | undefined;
  #executing = false;
  #nextNumber = 1;
  #nextId = 0;
  /** Type of event → how often the scheduler had it, and seconds that its thread was busy with it. */
  readonly stimuli = new Map<string, { count: number; seconds: number }>();

  constructor(options: ClusterEngineOptions) {
    this.options = options;
    this.clock = isolateClock(this.epochOffsetMs);
    this.scheduler = new Scheduler(null, { allowedFailures: options.allowedFailures });
    this.recorder = new TaskRecorder((call) => this.notify(call));
    this.sent = new SentArguments(options.threads, (transfer) =>
      this.notify((observer) => observer.transfer?.(transfer)),
    );
  }

  /** Somebody wants resource samples. */
  get wantsResources(): boolean {
    return [...this.#observers].some(({ resources }) => resources !== undefined);
  }

  get hasObservers(): boolean {
    return this.#observers.size > 0;
  }

  observe(observer: ClusterObserver): () => void {
    this.#announce();
    this.#observers.add(observer);
    for (const computation of this.#computations.values()) observer.computationAdded?.(computation.info);
    for (const worker of this.workers.values()) observer.workerAdded?.(worker.info);
    this.onObservers();
    return () => {
      this.#observers.delete(observer);
      this.onObservers();
    };
  }

  /** An observer that throws is told of it as an event and disturbs nobody. */
  notify(call: (observer: ClusterObserver) => void): void {
    this.#announce();
    for (const observer of this.#observers) {
      try {
        call(observer);
      } catch (error) {
        const text = isError(error) ? (error.stack ?? error.message) : String(error);
        if (observer.event !== undefined && this.#observers.size > 0)
          for (const other of this.#observers)
            if (other !== observer)
              other.event?.({ time: this.clock(), worker: -1, topic: 'observer-error', text });
      }
    }
  }

  /** Workers have the first batches by now and compute meanwhile; nothing else is told before. */
  #announce(): void {
    const info = this.#unannounced;
    this.#unannounced = undefined;
    if (info !== undefined) this.notify((observer) => observer.computationAdded?.(info));
  }

  event(topic: string, text: string, worker = -1): void {
    this.notify((observer) => observer.event?.({ time: this.clock(), worker, topic, text }));
  }

  /** Takes a graph in. Its requested results are wanted until `unwant`. */
  add(request: ComputationRequest): ComputationState {
    const { plan } = request;
    const imports = new Map<number, ResultHandle>();
    const origins = new Map<number, number>();
    for (const [local, external] of plan.imports) {
      const handle = this.results.checked(handleOf(external), external.key);
      imports.set(local, handle);
      origins.set(local, handle.computation.segment.base + handle.local);
      plan.requested[local] = 0;
    }
    const number = this.#nextNumber++;
    const firstId = request.data?.firstId ?? this.reserveIds(plan.program.size);
    const prefixes = this.#prefixes.of(plan.keys);
    const graph = {
      ...schedulerGraph(plan),
      functionOf: prefixes.numbers,
      functionCount: this.#prefixes.size,
    };
    const policy = {
      ...request.policy,
      workers: this.#named(request.policy),
      data: request.data !== undefined,
    };
    const submitted = this.clock();
    const info = computationInfo(request, { number, firstId, prefixes, imports, submitted });
    let added: ComputationState | undefined;
    this.#handle(
      {
        type: 'graph-added',
        graph,
        policy,
        imports: origins,
        ...(request.data === undefined ? {} : { holders: request.data.holders, nbytes: request.data.nbytes }),
      },
      (segment) => {
        const computation = new ComputationState({
          plan,
          segment,
          info,
          functions: request.functions,
          timeout: request.timeout ?? 0,
          threads: this.options.threads,
          imports,
          ...(request.data === undefined ? {} : { results: request.data.results }),
        });
        added = computation;
        this.#computations.set(number, computation);
        this.#bySegment.set(segment, computation);
        if (request.data !== undefined) this.#addData(computation, request.data);
        this.kinds.added(info);
        this.#announce();
        this.#unannounced = info;
      },
    );
    this.#noWorker.check(policy);
    // A graph without tasks is over and forgotten by now.
    if (added === undefined)
      throw new LongpoleError('ERR_LONGPOLE_INTERNAL', 'A graph was added, but has no segment.');
    return added;
  }

  /** The workers of a policy by name: an address is that of the worker there is now, a name also that of one to come. */
  #named({ workers }: SegmentPolicy = {}): ReadonlySet<string> | null {
    if (!workers) return null;
    const all = [...this.workers.values()];
    return new Set(
      Array.from(workers, (one) => all.find((worker) => isCalled(worker, one))?.info.name ?? one),
    );
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

  /** The computation of a task, by the scheduler's id for it. */
  locate(global: number): { computation: ComputationState; local: number } | undefined {
    const segment = this.scheduler.state.graph.segmentOf(global);
    const computation = this.#bySegment.get(segment);
    return computation && { computation, local: global - segment.base };
  }

  /** `firstId` of a computation, also of one that was forgotten lately. */
  firstIdOf(run: number): number | undefined {
    return this.#computations.get(run)?.info.firstId ?? this.#forgotten.get(run);
  }

  /** The key of a result. */
  keyOf(result: ResultId): string | undefined {
    const found = this.#find(result);
    return found?.info.keys[result - found.info.firstId];
  }

  /** A worker should have had this result and has not. */
  resultMissing(worker: number, result: ResultId): void {
    const found = this.#find(result);
    if (found === undefined) return;
    const id = found.segment.base + result - found.info.firstId;
    this.handleEvent({ type: 'results-missing', worker, ids: [id] });
  }

  /** A worker has taken copies of stored results into its store. */
  hasCopies(worker: number, inputs: readonly { readonly result: ResultId }[]): void {
    const { state } = this.scheduler;
    for (const { result } of inputs) {
      this.stored.copied(result, worker);
      const found = this.#find(result);
      const known = state.workers.get(worker);
      if (found === undefined || known === undefined) continue;
      const id = found.segment.base + result - found.info.firstId;
      if (state.location[id] !== worker) known.storeCopies.add(id);
    }
  }

  /** Ids for results that are brought to workers before their computation is added. */
  reserveIds(count: number): number {
    const firstId = this.#nextId;
    this.#nextId += count;
    return firstId;
  }

  /** There is nobody left to run anything. */
  failEverything(error: unknown): void {
    for (const computation of [...this.#computations.values()]) computation.cancel(error);
  }

  /** Ends all computations: none of their tasks runs any more, and their results leave the workers. */
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

  /** The workers end: nothing goes on. */
  close(): void {
    this.#keepAlive.close();
  }

  #find(result: ResultId): ComputationState | undefined {
    for (const computation of this.#computations.values()) {
      const { firstId, size } = computation.info;
      if (result >= firstId && result < firstId + size) return computation;
    }
    return undefined;
  }

  /** A run of a task failed: what is said of it if the scheduler decides that it is not tried again. */
  explain(computation: ComputationState, local: number, error: unknown): void {
    releaseFrames(error);
    computation.reasons.set(local, error);
    if (this.hasObservers) this.event('task-erred', failureText(error));
  }

  /** What a stored result is called at the workers, and where it is. */
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
    this.#keepAlive.hold(this.scheduler.state.canContinue);
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

  /** All tasks of a computation have ended: its isolates let it go. A loss opens it again. */
  closeIfSettled(computation: ComputationState): void {
    if (computation.segment.unfinished > 0 || computation.opened.size === 0) return;
    for (const index of computation.opened) this.workers.get(index)?.host.close(computation.info.number);
    computation.opened.clear();
    this.scheduler.forgetCopies(computation.segment);
  }

  /** Nobody needs anything of the segment any more, nor its lineage. */
  forget(segment: Segment): void {
    const computation = this.#bySegment.get(segment);
    if (computation === undefined) return;
    this.closeIfSettled(computation);
    this.#bySegment.delete(segment);
    this.#computations.delete(computation.info.number);
    this.#forgotten.set(computation.info.number, computation.info.firstId);
    for (const number of this.#forgotten.keys()) {
      if (this.#forgotten.size <= MAX_FORGOTTEN) break;
      this.#forgotten.delete(number);
    }
    this.kinds.forgotten(computation.info);
    computation.clear();
    this.notify((observer) => observer.computationForgotten?.(computation.info));
    for (const from of segment.importsFrom) if (from.dead) this.forget(from);
  }

  #addData(
    computation: ComputationState,
    { holders, nbytes }: { holders: Int32Array; nbytes: Float64Array },
  ): void {
    for (let local = 0; local < holders.length; local++) {
      if (holders[local]! >= 0) this.stored.add(computation.resultId(local), nbytes[local]!, holders[local]!);
      computation.arrived(local, true);
    }
  }
}
