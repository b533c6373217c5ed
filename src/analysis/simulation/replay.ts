// Simulates a graph of measured tasks on imaginary workers, event by event, with the policy of the engine: depth-first
// priorities, tasks on the worker with their inputs unless another worker can start them earlier, results that are joined on
// one worker, and work stealing by idle workers. Takes some 1 µs per task.
import { PriorityBitset } from '../../base/priorityBitset.js';
import { NO_REGION, nextOf, type Taker } from '../../graph/joinedTasks.js';
import { EventQueue } from './eventQueue.js';
import { HandOver } from './handOver.js';
import type { ReplayConditions, ReplayGraph, ReplayResult } from './replayTypes.js';
import { Replicas } from './replicas.js';
import { FIRST_CALLS } from './warmUp.js';

const IDLE = -1;
const NO_WORKER = -1;
const NO_TASK = Number.POSITIVE_INFINITY;
/** Number of workers with waiting tasks that an idle worker checks. */
const VICTIMS = 4;

export class Replay {
  readonly #graph: ReplayGraph;
  readonly #conditions: ReplayConditions;
  /** Tasks with inputs on each worker, by id. Most of many workers never have one. */
  readonly #queues: (EventQueue | undefined)[];
  /** Tasks without inputs on any worker, by id. */
  readonly #shared: PriorityBitset;
  /** What each worker takes from them, if it matters where results are and the scheduler does not send tasks ahead. */
  readonly #takers: readonly Taker[];
  /** End of the ids of each submission. */
  readonly #ends: Int32Array;
  readonly #events = new EventQueue();
  /** Number of unfinished dependencies, plus one before the submission. */
  readonly #waiting: Int32Array;
  /** Number of unfinished dependents. */
  readonly #needs: Int32Array;
  readonly #producer: Int32Array;
  /** Copies of results on workers other than their producers. */
  readonly #copies = new Replicas();
  readonly #onDisk: Uint8Array;
  readonly #readyAt: Float64Array;
  /** Worker that computed the last input, or NO_WORKER. */
  readonly #readyBy: Int32Array;
  /** Worker to which a task was sent ahead, or NO_WORKER. */
  readonly #sentTo: Int32Array;
  readonly #running: Int32Array;
  readonly #runningUntil: Float64Array;
  readonly #held: Float64Array;
  /** Seconds of the tasks in each queue. */
  readonly #queuedSeconds: Float64Array;
  /** Scratch array for the inputs of one task, otherwise zero. */
  readonly #inputBytes: Float64Array;
  readonly #idle: Int32Array;
  /** Position of each worker in `#idle`, or -1. */
  readonly #idleAt: Int32Array;
  #idleCount: number;
  /** Idle workers that have just received a task in their queue. */
  readonly #woken: Int32Array;
  #wokenCount = 0;
  /** Workers with a non-empty queue. */
  readonly #loaded: Int32Array;
  /** Position of each worker in `#loaded`, or -1. */
  readonly #loadedAt: Int32Array;
  #loadedCount = 0;
  readonly #handOver: HandOver;
  /** Number of calls of each kind by each worker, up to FIRST_CALLS. */
  readonly #calls: Uint8Array;
  #schedulerFree = 0;
  #computed = 0;
  #now = 0;
  #spilled = 0;
  #heldMost = 0;
  #finished = 0;

  constructor(graph: ReplayGraph, conditions: ReplayConditions) {
    const { size } = graph;
    const { workers } = conditions;
    this.#graph = graph;
    this.#conditions = conditions;
    this.#queues = new Array<EventQueue | undefined>(workers);
    this.#shared = new PriorityBitset(size);
    const isDivided = conditions.bandwidth < Number.POSITIVE_INFINITY && !conditions.sendsAhead;
    this.#takers = Array.from({ length: isDivided ? workers : 0 }, () => ({ region: NO_REGION }));
    this.#ends = new Int32Array(graph.submissions.length);
    for (const [id, submission] of graph.submissionOf.entries()) this.#ends[submission] = id + 1;
    this.#waiting = new Int32Array(size);
    this.#needs = new Int32Array(size);
    for (let id = 0; id < size; id++) {
      this.#waiting[id] = graph.dependencyOffsets[id + 1]! - graph.dependencyOffsets[id]! + 1;
      this.#needs[id] = graph.dependentOffsets[id + 1]! - graph.dependentOffsets[id]!;
    }
    this.#producer = new Int32Array(size).fill(NO_WORKER);
    this.#onDisk = new Uint8Array(size);
    this.#readyAt = new Float64Array(size);
    this.#readyBy = new Int32Array(size);
    this.#sentTo = new Int32Array(size).fill(NO_WORKER);
    this.#running = new Int32Array(workers).fill(IDLE);
    this.#runningUntil = new Float64Array(workers);
    this.#held = new Float64Array(workers);
    this.#queuedSeconds = new Float64Array(workers);
    this.#inputBytes = new Float64Array(workers);
    this.#idle = Int32Array.from({ length: workers }, (_, i) => workers - 1 - i);
    this.#idleAt = this.#idle.slice();
    this.#woken = new Int32Array(workers);
    this.#idleCount = conditions.startup > 0 ? 0 : workers;
    this.#loaded = new Int32Array(workers);
    this.#loadedAt = new Int32Array(workers).fill(-1);
    this.#handOver = new HandOver(graph);
    this.#calls = new Uint8Array((workers * graph.firstCalls.length) / FIRST_CALLS);
  }

  run(): ReplayResult {
    const { workers, startup } = this.#conditions;
    const started = workers + this.#graph.submissions.length;
    if (startup > 0) this.#events.add(startup, started);
    this.#submit(0);
    for (;;) {
      const time = this.#events.nextTime;
      const number = this.#events.take();
      if (number < 0) break;
      this.#now = time;
      if (number === started) this.#idleCount = workers;
      else if (number > started) this.#arrive(number - started - 1);
      else if (number >= workers) this.#release(number - workers);
      else this.#finish(number);
      this.#employIdle();
    }
    return {
      makespan: this.#now,
      computed: this.#computed,
      busy: this.#now > 0 ? this.#computed / (workers * this.#now) : 0,
      held: this.#heldMost,
      spilled: this.#spilled,
      finished: this.#finished,
    };
  }

  #submit(submission: number): void {
    const { delay } = this.#graph.submissions[submission]!;
    this.#events.add(this.#now + delay, this.#conditions.workers + submission);
  }

  #release(submission: number): void {
    for (const id of this.#handOver.tasksOf(submission)) this.#satisfy(id, NO_WORKER);
    const after = this.#handOver.after(submission);
    if (after >= 0) this.#submit(after);
  }

  #finish(worker: number): void {
    const { dependentOffsets, dependents, nbytes } = this.#graph;
    const id = this.#running[worker]!;
    this.#running[worker] = IDLE;
    this.#finished += 1;
    this.#releaseInputs(id);
    const end = dependentOffsets[id + 1]!;
    if (this.#onDisk[id] === 0 && end > dependentOffsets[id]!) this.#hold(worker, nbytes[id]!);
    for (let edge = dependentOffsets[id]!; edge < end; edge++) this.#satisfy(dependents[edge]!, worker);
    for (let next = this.#handOver.causedBy(id); next >= 0; next = this.#handOver.next(next))
      this.#submit(next);
    const next = this.#choose(worker);
    if (next >= 0) {
      this.#start(worker, next, true);
    } else {
      this.#idleAt[worker] = this.#idleCount;
      this.#idle[this.#idleCount++] = worker;
    }
  }

  #hold(worker: number, bytes: number): void {
    this.#held[worker]! += bytes;
    this.#heldMost = Math.max(this.#heldMost, this.#held[worker]!);
  }

  #releaseInputs(id: number): void {
    const { dependencyOffsets, dependencies, nbytes } = this.#graph;
    for (let edge = dependencyOffsets[id]!; edge < dependencyOffsets[id + 1]!; edge++) {
      const input = dependencies[edge]!;
      if (--this.#needs[input]! === 0 && this.#onDisk[input] === 0)
        this.#held[this.#producer[input]!]! -= nbytes[input]!;
    }
  }

  /** Removes one prerequisite of a task. A ready task is queued at the worker with most of its inputs. */
  #satisfy(id: number, by: number): void {
    if (--this.#waiting[id]! > 0) return;
    this.#readyBy[id] = by;
    this.#readyAt[id] = this.#now;
    const home = this.#conditions.bandwidth === Number.POSITIVE_INFINITY ? NO_WORKER : this.#homeOf(id);
    if (home === NO_WORKER || !this.#conditions.sendsAhead) this.#enqueue(id, home);
    else this.#send(id, home);
  }

  /** Sends a task ahead, which arrives after the latency of an idle worker. */
  #send(id: number, home: number): void {
    const { workers, latency, followLatency, report } = this.#conditions;
    this.#sentTo[id] = home;
    const seconds = this.#readyBy[id] === home ? followLatency : report + latency;
    const arrivals = workers + this.#graph.submissions.length + 1;
    this.#events.add(this.#now + seconds * this.#stretch(), arrivals + id);
  }

  #arrive(id: number): void {
    this.#enqueue(id, this.#sentTo[id]!);
  }

  #enqueue(id: number, home: number): void {
    if (home === NO_WORKER) {
      this.#shared.add(id);
      return;
    }
    this.#queues[home] ??= new EventQueue();
    this.#queues[home].add(id, id);
    this.#queuedSeconds[home]! += this.#graph.seconds[id]!;
    if (this.#loadedAt[home]! < 0) {
      this.#loadedAt[home] = this.#loadedCount;
      this.#loaded[this.#loadedCount++] = home;
      if (this.#idleAt[home]! >= 0) this.#woken[this.#wokenCount++] = home;
    }
  }

  /** Returns the worker with most bytes of the inputs; among several, the one with the smallest backlog. */
  #homeOf(id: number): number {
    const { dependencyOffsets, dependencies, nbytes } = this.#graph;
    const inputs = this.#inputBytes;
    const [from, to] = [dependencyOffsets[id]!, dependencyOffsets[id + 1]!];
    let home = NO_WORKER;
    for (let edge = from; edge < to; edge++) {
      const worker = this.#producer[dependencies[edge]!]!;
      inputs[worker]! += nbytes[dependencies[edge]!]!;
      if (home === NO_WORKER || inputs[worker]! > inputs[home]!) home = worker;
      else if (inputs[worker] === inputs[home] && this.#backlog(worker) < this.#backlog(home)) home = worker;
    }
    for (let edge = from; edge < to; edge++) inputs[this.#producer[dependencies[edge]!]!] = 0;
    return home;
  }

  /** Returns the seconds until a worker will have finished its queue. */
  #backlog(worker: number): number {
    const running = this.#running[worker] === IDLE ? 0 : this.#runningUntil[worker]! - this.#now;
    return running + this.#queuedSeconds[worker]!;
  }

  /** Starts tasks on idle workers: first from their own queue, then from the shared queue, then from other workers. */
  #employIdle(): void {
    while (this.#wokenCount > 0) {
      const worker = this.#woken[--this.#wokenCount]!;
      if (this.#idleAt[worker]! >= 0 && this.#first(worker) < NO_TASK)
        this.#employ(worker, this.#choose(worker));
    }
    while (this.#idleCount > 0 && (this.#loadedCount > 0 || this.#shared.size > 0)) {
      const worker = this.#idle[this.#idleCount - 1]!;
      const id = this.#choose(worker);
      if (id < 0) return;
      this.#employ(worker, id);
    }
  }

  #employ(worker: number, id: number): void {
    const at = this.#idleAt[worker]!;
    const last = this.#idle[--this.#idleCount]!;
    this.#idle[at] = last;
    this.#idleAt[last] = at;
    this.#idleAt[worker] = -1;
    this.#start(worker, id, false);
  }

  #choose(worker: number): number {
    const own = this.#first(worker);
    const shared = this.#nextShared(worker);
    if (shared < 0 && own === NO_TASK) return this.#takeOver(worker);
    if (shared < 0 || own < shared) return this.#takeFrom(worker);
    this.#shared.delete(shared);
    return shared;
  }

  /** Returns the task without inputs that the worker runs next, or -1. */
  #nextShared(worker: number): number {
    const first = this.#shared.min();
    if (first < 0 || this.#takers.length < 2) return first;
    const end = this.#ends[this.#graph.submissionOf[first]!]!;
    return nextOf(this.#graph, this.#shared, first, end, this.#takers, this.#takers[worker]!);
  }

  /** Returns the task of a worker's own queue that runs next, or NO_TASK. */
  #first(worker: number): number {
    return this.#queues[worker]?.nextTime ?? NO_TASK;
  }

  #takeFrom(worker: number): number {
    const id = this.#queues[worker]?.take() ?? -1;
    this.#queuedSeconds[worker]! -= this.#graph.seconds[id]!;
    if (this.#first(worker) === NO_TASK) {
      const at = this.#loadedAt[worker]!;
      const last = this.#loaded[--this.#loadedCount]!;
      this.#loaded[at] = last;
      this.#loadedAt[last] = at;
      this.#loadedAt[worker] = -1;
    }
    return id;
  }

  /** Steals a task from a worker whose backlog takes longer than the task would take here. Returns the task, or -1. */
  #takeOver(thief: number): number {
    const count = Math.min(VICTIMS, this.#loadedCount);
    for (let i = 0; i < count; i++) {
      const victim = this.#loaded[this.#loadedCount - 1 - i]!;
      const id = this.#first(victim);
      const seconds =
        this.#arrival(id, thief, false) -
        this.#now +
        this.#inputSeconds(id, thief, false) +
        this.#graph.seconds[id]!;
      if (seconds < this.#backlog(victim)) return this.#takeFrom(victim);
    }
    return -1;
  }

  #start(worker: number, id: number, wasBusy: boolean): void {
    const { taskOverhead, schedulerSeconds } = this.#conditions;
    const now = this.#now;
    const stretch = this.#stretch();
    this.#schedulerFree = Math.max(this.#schedulerFree, this.#readyAt[id]!) + schedulerSeconds;
    const transfer = this.#inputSeconds(id, worker, true) * stretch;
    const arrived = Math.max(this.#arrival(id, worker, wasBusy), this.#schedulerFree);
    const start = Math.max(now, arrived + transfer) + taskOverhead * stretch;
    const seconds = (this.#graph.seconds[id]! + this.#firstCall(id, worker)) * stretch;
    this.#computed += seconds;
    const stop = start + seconds + this.#spillSeconds(worker, id);
    this.#producer[id] = worker;
    this.#running[worker] = id;
    this.#runningUntil[worker] = stop;
    this.#events.add(stop, worker);
  }

  /** Returns the additional seconds of one of the first calls of a function on a worker. */
  #firstCall(id: number, worker: number): number {
    const { kindOf, firstCalls } = this.#graph;
    const kind = kindOf[id]!;
    if (kind < 0) return 0;
    const at = (worker * firstCalls.length) / FIRST_CALLS + kind;
    const call = this.#calls[at]!;
    if (call >= FIRST_CALLS) return 0;
    this.#calls[at] = call + 1;
    return firstCalls[kind * FIRST_CALLS + call]!;
  }

  /**
   * Returns when a worker has a task: after a short delay if the worker computed the last input, otherwise when the
   * scheduler has received the report of the last input and has sent the task. A busy worker receives its next task
   * while it computes.
   */
  #arrival(id: number, worker: number, wasBusy: boolean): number {
    const { latency, followLatency, report } = this.#conditions;
    const ready = this.#readyAt[id]!;
    const by = this.#readyBy[id]!;
    const stretch = this.#stretch();
    if (this.#sentTo[id] === worker) return this.#now;
    if (by === worker) return ready + followLatency * stretch;
    const reported = by !== NO_WORKER && this.#running[by] !== IDLE ? ready + report : ready;
    return (wasBusy ? reported : Math.max(reported, this.#now)) + latency * stretch;
  }

  /** Returns the factor by which a task that starts now takes longer because of the running tasks. */
  #stretch(): number {
    const { stretch, workers } = this.#conditions;
    if (stretch.length === 0) return 1;
    return stretch[Math.min(workers - this.#idleCount, stretch.length - 1)]!;
  }

  /** Returns the seconds to transfer a task's inputs to a worker, and to read spilled inputs. */
  #inputSeconds(id: number, worker: number, move: boolean): number {
    const { dependencyOffsets, dependencies, nbytes } = this.#graph;
    const { bandwidth, transferLatency, diskBandwidth } = this.#conditions;
    let seconds = 0;
    for (let edge = dependencyOffsets[id]!; edge < dependencyOffsets[id + 1]!; edge++) {
      const input = dependencies[edge]!;
      if (this.#onDisk[input] === 1) seconds += nbytes[input]! / diskBandwidth;
      if (bandwidth === Number.POSITIVE_INFINITY) continue;
      // A result without other dependents is released after this task.
      const isShared = this.#needs[input]! > 1;
      if (this.#producer[input] === worker || (isShared && this.#copies.has(input, worker))) continue;
      seconds += transferLatency + nbytes[input]! / bandwidth;
      if (move && isShared) this.#copies.add(input, worker);
    }
    return seconds;
  }

  /** Spills a result that does not fit into memory. Returns the seconds of the write. */
  #spillSeconds(worker: number, id: number): number {
    const bytes = this.#graph.nbytes[id]!;
    if (this.#needs[id] === 0 || this.#held[worker]! + bytes <= this.#conditions.memory) return 0;
    this.#onDisk[id] = 1;
    this.#spilled += bytes;
    return bytes / this.#conditions.diskBandwidth;
  }
}
