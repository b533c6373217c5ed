// A worker with one isolate, which runs tasks, and the store of their results. The host runs in the main process in a
// cluster of threads, and in each worker process in a cluster of processes. It runs no tasks, so it answers peers and
// the cluster while a task runs.

import { isError } from '../../base/errors.js';
import type { Transfer } from '../../protocol/clusterObserver.js';
import type { CompletionColumns } from '../../protocol/completionLog.js';
import type { FunctionRef } from '../../protocol/functionRef.js';
import type { Batch, IsolateBirth, PackedValues, Values } from '../../protocol/isolateMessages.js';
import {
  type GatherInput,
  isPacked,
  type PackedResult,
  packedBytes,
  type ResultId,
} from '../../protocol/packedResult.js';
import type { TaskAnswer, TaskAnswerError } from '../../protocol/questions.js';
import { KIND_STORED } from '../../protocol/resultKinds.js';
import type { CallContext, ExecutingTask, WorkerRun } from '../../protocol/workerMessages.js';
import { CLOSE_GRACE_MS } from '../pool/isolate.js';
import { type IsolateThread, startThread } from '../pool/isolateThread.js';
import { UntakenError } from '../pool/pendingCalls.js';
import { ThreadIsolate } from '../pool/threadIsolate.js';
import { collectGarbage } from '../worker/collectGarbage.js';
import type { GatherOutcome } from './batchGate.js';
import { gatherInputs, takeResults } from './gatherInputs.js';
import { endOfIsolate, heapLimit } from './heapLimit.js';
import { HostMeasures } from './hostMeasures.js';
import { HostProfile } from './hostProfile.js';
import type { HostDump, HostEvents, ThreadHostOptions, WorkerHost, WorkerSnapshot } from './hostTypes.js';
import { IsolateCopies } from './isolateCopies.js';
import { OpenRun, type RunHost } from './openRun.js';
import { RunningTask } from './runningTask.js';
import { type MemoryHost, WorkerMemory } from './workerMemory.js';

/** Time between two polls of a busy isolate, in milliseconds. */
const POLL_MS = 10;
/** Polls between two measurements of the memory while the isolate is busy. */
const BEAT_POLLS = 10;
const IDLE_BEAT_MS = 500;
/** Consecutive deaths of idle isolates after which the worker is given up. */
const MAX_IDLE_DEATHS = 5;
const CANCELLED_TOO_LONG = `A task that was cancelled did not end within ${CLOSE_GRACE_MS} ms.`;
/** Name of a worker → isolates that this process has started for workers of this name, also in other clusters. */
const startedIsolates = new Map<string, number>();

export class ThreadHost implements WorkerHost, RunHost, MemoryHost {
  readonly name: string;
  readonly pid = process.pid;
  readonly events: HostEvents;
  readonly #options: ThreadHostOptions;
  readonly #runs = new Map<number, OpenRun>();
  readonly #copies = new IsolateCopies();
  readonly #running: RunningTask;
  readonly #memory: WorkerMemory;
  readonly #profile: HostProfile;
  readonly #measures: HostMeasures;
  /** Limit on the JavaScript heap of an isolate in bytes; undefined: V8's default. */
  readonly #heap: number | undefined;
  isolate: ThreadIsolate;
  generation = 0;
  #idleDeaths = 0;
  /** Why the isolate ends. */
  #cause: Error | undefined;
  #poll: NodeJS.Timeout | undefined;
  #polls = 0;
  readonly #idleBeat: NodeJS.Timeout;
  #ended = false;
  readonly specOf = (run: number): WorkerRun | undefined => this.#runs.get(run)?.spec;

  constructor(options: ThreadHostOptions, events: HostEvents) {
    this.name = options.facts.name;
    this.#options = options;
    this.events = events;
    this.#measures = new HostMeasures(options, events);
    this.#running = new RunningTask(events, () => this.isolate.terminate());
    this.#memory = new WorkerMemory(options, events, this);
    this.#profile = new HostProfile(options, events, this.#measures, this);
    this.#heap = heapLimit(options.facts, options.thresholds.terminate, options.processBytes?.() ?? 0);
    this.isolate = this.#startIsolate();
    this.#idleBeat = setInterval(() => this.#beat(), IDLE_BEAT_MS);
    this.#idleBeat.unref();
  }

  open(run: WorkerRun): void {
    this.#runs.set(run.run, new OpenRun(this, run));
    this.#measures.opened(run);
  }

  dispatch(batch: Batch): void {
    const open = this.#runs.get(batch.run);
    if (open === undefined || (batch.isolate ?? this.generation) !== this.generation) return;
    const gather = this.#gathers(open.spec, batch);
    const gatherAll = () => gatherInputs(this.#options, this.events, open.spec, batch.ids, gather);
    // Isolates with open runs keep the program alive, and so does the engine while tasks can run.
    this.#poll ??= setInterval(() => this.#pollIsolate(), POLL_MS).unref();
    open.gate.admit(batch, gather.length === 0 ? undefined : gatherAll);
  }

  #gathers(spec: WorkerRun, batch: Batch): readonly GatherInput[] {
    const evicted = this.#copies.evictedInputs(spec, batch, this.#options.index);
    return evicted.length === 0 ? batch.gather : [...batch.gather, ...evicted];
  }

  release(run: number, ids: Int32Array): void {
    this.isolate.release(run, ids);
    this.#copies.released(run, ids);
  }

  drop(results: readonly ResultId[]): void {
    for (const result of results) {
      this.#options.store.delete(result);
      this.#copies.forget(result);
    }
  }

  fetch(run: number, ids: Int32Array): void {
    if (this.#runs.get(run)?.isOpen) this.isolate.fetch(run, ids);
    else this.events.fetched(run, { ids: new Int32Array(0), values: [] }, [], ids);
  }

  steal(run: number, ids: Int32Array): void {
    const open = this.#runs.get(run);
    const waiting = open?.gate.takeBack(ids) ?? [];
    if (open?.isOpen) open.stolenBefore(waiting, () => this.isolate.steal(run, ids));
    else this.events.stolen(run, waiting);
  }

  cancel(run: number, ids: Int32Array): void {
    const open = this.#runs.get(run);
    open?.gate.takeBack(ids);
    if (!open?.isOpen) return;
    this.#running.cancel(run, this.isolate.cancel(run, ids), this.isolate.grace);
  }

  close(run: number): void {
    const open = this.#runs.get(run);
    if (open === undefined) return;
    this.#runs.delete(run);
    open.gate.clear();
    this.#running.closed(run);
    this.#copies.closed(run);
    this.#measures.closed(run, this.isolate.executing?.run === run);
    if (open.isOpen) this.isolate.close(run);
  }

  take(gather: readonly GatherInput[], what: Transfer['what']): Promise<ResultId[]> {
    return takeResults(this.#options, this.events, gather, what);
  }

  async give(results: readonly GatherInput[]): Promise<ReadonlyMap<ResultId, PackedResult>> {
    const given = new Map<ResultId, PackedResult>();
    for (const { result } of results) {
      const packed = await this.#options.store.read(result);
      if (packed !== undefined) given.set(result, packed);
    }
    return given;
  }

  async call(fn: FunctionRef, context?: CallContext, tasksWait = false): Promise<unknown> {
    const isolate = this.isolate;
    const { facts, transferLogs, digests } = this.#options;
    const digestsTotal = new Map(digests.ledger);
    const memory = this.#memory.snapshot();
    const worker: WorkerSnapshot = { ...facts, ...transferLogs(), digestsTotal, memory };
    try {
      return await isolate.call(fn, { ...context, worker }, tasksWait);
    } catch (error) {
      const isUntaken = isError(error) && error.cause instanceof UntakenError;
      if (!isUntaken || context !== undefined || this.isolate === isolate) throw error;
      return this.call(fn);
    }
  }

  answer(answer: TaskAnswer | TaskAnswerError, isolate: number): void {
    if (isolate === this.generation) this.isolate.answer(answer);
  }

  async dump(): Promise<HostDump> {
    const runs = Array.from(this.#runs.values(), (open) => open.dump());
    return { task: this.running, isolates: this.generation + 1, runs, isolate: await this.isolate.dump() };
  }

  async flush(): Promise<void> {
    await this.#profile.flush();
    this.#measures.send();
  }

  async terminate(): Promise<void> {
    this.#ended = true;
    clearInterval(this.#idleBeat);
    this.#measures.close();
    this.#stopPolling();
    this.#profile.abandon();
    for (const open of this.#runs.values()) open.gate.clear();
    this.isolate.terminate();
    this.#options.closed?.();
    await this.#options.store.close();
  }

  /** Replaces the isolate, also while a task runs. */
  restart(cause: Error): void {
    this.#cause = cause;
    this.isolate.terminate();
  }

  get running(): ExecutingTask | undefined {
    return this.#running.task;
  }

  hasBegun(run: number, id: number): boolean {
    return this.#runs.get(run)?.hasBegun(id) === true;
  }

  /** Evicts the isolate's copies of spilled results, to free their memory. */
  spilled(results: readonly ResultId[]): void {
    for (const [run, ids] of this.#copies.evict(results)) this.#evictFrom(run, ids);
  }

  /**
   * Evicts copies from the isolate, except those that a waiting batch needs, because that batch does not gather them
   * again. `passed` evicts these once the batch was sent.
   */
  #evictFrom(run: number, ids: readonly number[]): void {
    const gate = this.#runs.get(run)?.gate;
    const free = ids.filter((id) => gate?.holds(id) !== true);
    if (free.length > 0) this.isolate.evict(run, Int32Array.from(free));
  }

  passed({ spec }: OpenRun, batch: Batch, { results }: GatherOutcome): void {
    if (results.size === 0 && !this.#copies.hasEvicted(spec.run)) return;
    const { store } = this.#options;
    const gathered = this.#gathers(spec, batch).filter(({ id }) => results.has(id));
    for (const { id, result } of gathered) this.#copies.add(result, spec.run, id);
    // Some results may have been spilled while the batch was waiting.
    this.spilled(gathered.flatMap(({ result }) => (store.isSpilled(result) ? [result] : [])));
    this.#evictFrom(spec.run, [...this.#copies.evictedIn(spec, batch).keys()]);
  }

  get isOccupied(): boolean {
    return this.isolate.isOccupied || [...this.#runs.values()].some(({ gate }) => gate.size > 0);
  }

  get vitals(): Float64Array {
    return this.isolate.vitals;
  }

  get started(): Promise<void> {
    return this.isolate.started;
  }

  /** Stores the results of finished tasks, then reports the tasks. */
  finished(spec: WorkerRun, columns: CompletionColumns, values: ReadonlyMap<number, unknown>): void {
    const { ids, kinds, count } = columns;
    this.#idleDeaths = 0;
    for (let index = 0; index < count; index++) {
      if (kinds[index] !== KIND_STORED) continue;
      const packed = values.get(ids[index]!);
      if (isPacked(packed)) this.#keep(spec, ids[index]!, packed);
    }
    this.#measures.time.ended(spec.run, columns);
    this.#running.finished(spec.run, columns, spec.timeout);
    this.#profile.finished(spec, columns);
    this.events.finished(spec.run, columns, values);
  }

  fetched(spec: WorkerRun, values: Values, missing: Int32Array, packed: PackedValues): void {
    const stored = Array.from(packed.ids, (id, index) => {
      const result = packed.results[index]!;
      this.#keep(spec, id, result);
      return { id, nbytes: packedBytes(result) };
    });
    this.events.fetched(spec.run, values, stored, missing);
  }

  isolateLost(cause: Error): void {
    this.#cause ??= endOfIsolate(cause, this.#options.facts, this.#heap);
  }

  #keep(spec: WorkerRun, id: number, packed: PackedResult): void {
    const result = spec.firstId + id;
    this.#options.store.put(result, packed);
    this.#copies.add(result, spec.run, id);
    this.#memory.noteResult(packedBytes(packed));
  }

  #pollIsolate(): void {
    // Other runs have reported their tasks: an isolate reports at the end of a batch, and before a task that is not short.
    this.isolate.poll(this.isolate.currentRun);
    this.#running.poll(this.isolate, this.specOf);
    this.#profile.polled();
    if (++this.#polls % BEAT_POLLS === 0) this.#beat();
    else this.#memory.measureIfGrown();
    // Not when the last run closes, because the next one often follows at once.
    if (this.#runs.size === 0) this.#stopPolling();
  }

  #stopPolling(): void {
    clearInterval(this.#poll);
    this.#poll = undefined;
    this.#profile.idle();
  }

  refreshVitals(): void {
    this.isolate.interrupt();
  }

  /**
   * Collects garbage in the isolate, and in this thread if the process belongs to the worker. Both hold spilled
   * results.
   */
  collectGarbage(): void {
    this.isolate.collect();
    if (this.#options.processBytes !== undefined) collectGarbage();
  }

  #beat(): void {
    this.#memory.measure();
    this.#measures.send();
  }

  #startIsolate(): ThreadIsolate {
    const { facts, epochOffsetMs } = this.#options;
    // The inspector finds threads by name, so names are unique in the process.
    const earlier = startedIsolates.get(facts.name) ?? 0;
    startedIsolates.set(facts.name, earlier + 1);
    const name = earlier === 0 ? facts.name : `${facts.name}-${earlier}`;
    return new ThreadIsolate(name, epochOffsetMs, {
      gone: (executing, end) => this.#isolateGone(executing, end),
      measured: (measures) => this.#measures.take(measures),
      asked: (question) => {
        this.#running.asked(question, this.specOf(question.run)?.timeout);
        this.events.asked(question, this.generation);
      },
      start: this.#options.startThread ?? ((birth) => this.#startThread(birth)),
    });
  }

  #startThread(birth: IsolateBirth): IsolateThread {
    const thread = startThread(birth, this.#heap);
    this.#profile.follow(birth.name, thread);
    return thread;
  }

  #isolateGone(executing: ExecutingTask | undefined, end: Error): void {
    if (this.#ended) return;
    // Without an open run, no run has reported the cause. Then only a task of a closed run can have been running.
    if (executing === undefined) this.isolateLost(end);
    const cause = this.#cause ?? new Error(CANCELLED_TOO_LONG);
    this.#cause = undefined;
    // The task of a closed run has no effect on the scheduler.
    const running = executing && this.#runs.get(executing.run)?.isOpen ? executing : undefined;
    this.generation++;
    this.#copies.clear();
    const { isTimedOut } = this.#running;
    // A task that was cancelled, or whose run was closed.
    const isDropped =
      executing !== undefined && (!this.#runs.has(executing.run) || this.#running.isCancelled(executing));
    this.#measures.died(executing, isDropped && !isTimedOut ? 'cancelled' : 'failed');
    this.#running.clear();
    if (executing === undefined && ++this.#idleDeaths >= MAX_IDLE_DEATHS) {
      void this.terminate();
      this.events.lost(cause);
      return;
    }
    this.isolate = this.#startIsolate();
    for (const open of this.#runs.values()) open.gate.clear();
    this.events.restarted(running, cause, isDropped || isTimedOut);
  }
}
