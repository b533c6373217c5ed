// The simulator itself: a graph of measured tasks runs on imagined workers, event by event. The policy is that of the
// engine: depth-first priorities, a task goes where its inputs are unless somebody else could start it sooner, an idle
// worker takes over what waits elsewhere. Some 1 µs per task; nothing is allocated while it runs.
import { EventQueue } from './eventQueue.js';
import { HandOver } from './handOver.js';
import type { ReplayConditions, ReplayGraph, ReplayResult } from './replayTypes.js';
import { Replicas } from './replicas.js';
import { TaskQueues } from './taskQueues.js';
import { FIRST_CALLS } from './warmUp.js';

const IDLE = -1;
const NOBODY = -1;
/** How many workers with waiting tasks an idle one looks at. */
const VICTIMS = 4;

export class Replay {
  readonly #graph: ReplayGraph;
  readonly #conditions: ReplayConditions;
  readonly #queues: TaskQueues;
  /** The queue of tasks that no worker has inputs of. */
  readonly #shared: number;
  readonly #events = new EventQueue();
  /** Dependencies that are not finished, and one for the submission. */
  readonly #waiting: Int32Array;
  /** Dependents that are not finished. */
  readonly #needs: Int32Array;
  readonly #producer: Int32Array;
  /** Copies of results beside the producer's. */
  readonly #copies = new Replicas();
  readonly #onDisk: Uint8Array;
  readonly #readyAt: Float64Array;
  /** The worker that made the last input, or NOBODY. */
  readonly #readyBy: Int32Array;
  /** Where a task was sent ahead, and is; or NOBODY. */
  readonly #sentTo: Int32Array;
  readonly #running: Int32Array;
  readonly #runningUntil: Float64Array;
  readonly #held: Float64Array;
  /** Seconds of the tasks in each queue. */
  readonly #queuedSeconds: Float64Array;
  /** Zeros, but while the inputs of a task are added up. */
  readonly #inputBytes: Float64Array;
  /** Idle workers, and where each stands there, or -1. */
  readonly #idle: Int32Array;
  readonly #idleAt: Int32Array;
  #idleCount: number;
  /** Idle workers that have just been given a task of their own. */
  readonly #woken: Int32Array;
  #wokenCount = 0;
  /** Workers whose own queue is not empty, and where each stands there. */
  readonly #loaded: Int32Array;
  readonly #loadedAt: Int32Array;
  #loadedCount = 0;
  readonly #handOver: HandOver;
  /** How often each worker has called each kind, up to FIRST_CALLS. */
  readonly #calls: Uint8Array;
  #schedulerFree = 0;
  #computed = 0;
  #now = 0;
  #transferSeconds = 0;
  #spilled = 0;
  #heldMost = 0;
  #finished = 0;

  constructor(graph: ReplayGraph, conditions: ReplayConditions) {
    const { size } = graph;
    const { workers } = conditions;
    this.#graph = graph;
    this.#conditions = conditions;
    this.#queues = new TaskQueues(workers + 1, size);
    this.#shared = workers;
    this.#waiting = new Int32Array(size);
    this.#needs = new Int32Array(size);
    for (let id = 0; id < size; id++) {
      this.#waiting[id] = graph.dependencyOffsets[id + 1]! - graph.dependencyOffsets[id]! + 1;
      this.#needs[id] = graph.dependentOffsets[id + 1]! - graph.dependentOffsets[id]!;
    }
    this.#producer = new Int32Array(size).fill(NOBODY);
    this.#onDisk = new Uint8Array(size);
    this.#readyAt = new Float64Array(size);
    this.#readyBy = new Int32Array(size);
    this.#sentTo = new Int32Array(size).fill(NOBODY);
    this.#running = new Int32Array(workers).fill(IDLE);
    this.#runningUntil = new Float64Array(workers);
    this.#held = new Float64Array(workers);
    this.#queuedSeconds = new Float64Array(workers + 1);
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
      transferSeconds: this.#transferSeconds,
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
    for (const id of this.#handOver.tasksOf(submission)) this.#satisfy(id, NOBODY);
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

  /** One thing less to wait for. A task that can run goes to the queue of the worker with most of its inputs. */
  #satisfy(id: number, by: number): void {
    if (--this.#waiting[id]! > 0) return;
    this.#readyBy[id] = by;
    this.#readyAt[id] = this.#now;
    const home = this.#conditions.bandwidth === Number.POSITIVE_INFINITY ? NOBODY : this.#homeOf(id);
    if (home === NOBODY || !this.#conditions.sendsAhead) this.#enqueue(id, home);
    else this.#send(id, home);
  }

  /** It is there after as long as the worker waits for a task that it could start at once. */
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
    const queue = home === NOBODY ? this.#shared : home;
    this.#queues.add(queue, id);
    this.#queuedSeconds[queue]! += this.#graph.seconds[id]!;
    if (home !== NOBODY && this.#loadedAt[home]! < 0) {
      this.#loadedAt[home] = this.#loadedCount;
      this.#loaded[this.#loadedCount++] = home;
      if (this.#idleAt[home]! >= 0) this.#woken[this.#wokenCount++] = home;
    }
  }

  /** The worker with most bytes of the inputs; of several the one with the least to do. */
  #homeOf(id: number): number {
    const { dependencyOffsets, dependencies, nbytes } = this.#graph;
    const inputs = this.#inputBytes;
    const [from, to] = [dependencyOffsets[id]!, dependencyOffsets[id + 1]!];
    let home = NOBODY;
    for (let edge = from; edge < to; edge++) {
      const worker = this.#producer[dependencies[edge]!]!;
      inputs[worker]! += nbytes[dependencies[edge]!]!;
      if (home === NOBODY || inputs[worker]! > inputs[home]!) home = worker;
      else if (inputs[worker] === inputs[home] && this.#backlog(worker) < this.#backlog(home)) home = worker;
    }
    for (let edge = from; edge < to; edge++) inputs[this.#producer[dependencies[edge]!]!] = 0;
    return home;
  }

  /** Seconds until a worker would have done all that waits for it. */
  #backlog(worker: number): number {
    const running = this.#running[worker] === IDLE ? 0 : this.#runningUntil[worker]! - this.#now;
    return running + this.#queuedSeconds[worker]!;
  }

  /** Gives idle workers what they can start now: first their own, then what all may take, then what others have. */
  #employIdle(): void {
    while (this.#wokenCount > 0) {
      const worker = this.#woken[--this.#wokenCount]!;
      if (this.#idleAt[worker]! >= 0 && this.#queues.size(worker) > 0)
        this.#employ(worker, this.#choose(worker));
    }
    while (this.#idleCount > 0 && (this.#loadedCount > 0 || this.#queues.size(this.#shared) > 0)) {
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
    const own = this.#queues.min(worker);
    const shared = this.#queues.min(this.#shared);
    if (own < 0 && shared < 0) return this.#takeOver(worker);
    return own >= 0 && (shared < 0 || own < shared)
      ? this.#takeFrom(worker)
      : this.#queues.take(this.#shared);
  }

  #takeFrom(worker: number): number {
    const id = this.#queues.take(worker);
    this.#queuedSeconds[worker]! -= this.#graph.seconds[id]!;
    if (this.#queues.size(worker) === 0) {
      const at = this.#loadedAt[worker]!;
      const last = this.#loaded[--this.#loadedCount]!;
      this.#loaded[at] = last;
      this.#loadedAt[last] = at;
      this.#loadedAt[worker] = -1;
    }
    return id;
  }

  /** A task that waits at another worker, if this one would be done with it before the other is with all; or -1. */
  #takeOver(thief: number): number {
    const count = Math.min(VICTIMS, this.#loadedCount);
    for (let i = 0; i < count; i++) {
      const victim = this.#loaded[this.#loadedCount - 1 - i]!;
      const id = this.#queues.min(victim);
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
    const fetched = arrived + transfer;
    const start = Math.max(now, fetched) + taskOverhead * stretch;
    this.#transferSeconds += Math.max(0, fetched - Math.max(now, arrived));
    const seconds = (this.#graph.seconds[id]! + this.#firstCall(id, worker)) * stretch;
    this.#computed += seconds;
    const stop = start + seconds + this.#spillSeconds(worker, id);
    this.#producer[id] = worker;
    this.#running[worker] = id;
    this.#runningUntil[worker] = stop;
    this.#events.add(stop, worker);
  }

  /** Seconds that the task takes longer because its worker has called its function seldom. */
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
   * When a worker has a task: at once if it made the last input itself, else when the scheduler has been told of it and has
   * passed the task on. What a busy worker will run next is sent to it while it computes.
   */
  #arrival(id: number, worker: number, wasBusy: boolean): number {
    const { latency, followLatency, report } = this.#conditions;
    const ready = this.#readyAt[id]!;
    const by = this.#readyBy[id]!;
    const stretch = this.#stretch();
    if (this.#sentTo[id] === worker) return this.#now;
    if (by === worker) return ready + followLatency * stretch;
    const told = by !== NOBODY && this.#running[by] !== IDLE ? ready + report : ready;
    return (wasBusy ? told : Math.max(told, this.#now)) + latency * stretch;
  }

  /** How many times longer a task takes that starts now, beside those that run. */
  #stretch(): number {
    const { stretch, workers } = this.#conditions;
    if (stretch.length === 0) return 1;
    return stretch[Math.min(workers - this.#idleCount, stretch.length - 1)]!;
  }

  /** Seconds to bring a task's inputs to a worker, from disk where they were spilled. */
  #inputSeconds(id: number, worker: number, move: boolean): number {
    const { dependencyOffsets, dependencies, nbytes } = this.#graph;
    const { bandwidth, transferLatency, diskBandwidth } = this.#conditions;
    let seconds = 0;
    for (let edge = dependencyOffsets[id]!; edge < dependencyOffsets[id + 1]!; edge++) {
      const input = dependencies[edge]!;
      if (this.#onDisk[input] === 1) seconds += nbytes[input]! / diskBandwidth;
      if (bandwidth === Number.POSITIVE_INFINITY) continue;
      // A result that nobody else will need is gone after this.
      const isShared = this.#needs[input]! > 1;
      if (this.#producer[input] === worker || (isShared && this.#copies.has(input, worker))) continue;
      seconds += transferLatency + nbytes[input]! / bandwidth;
      if (move && isShared) this.#copies.add(input, worker);
    }
    return seconds;
  }

  /** A result that does not fit goes to disk before the next task starts. */
  #spillSeconds(worker: number, id: number): number {
    const bytes = this.#graph.nbytes[id]!;
    if (this.#needs[id] === 0 || this.#held[worker]! + bytes <= this.#conditions.memory) return 0;
    this.#onDisk[id] = 1;
    this.#spilled += bytes;
    return bytes / this.#conditions.diskBandwidth;
  }
}
