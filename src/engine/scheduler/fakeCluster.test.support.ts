// A simulated cluster: the scheduler, workers (see fakeWorker.test.support.ts) and the shell between them. The shell
// keeps inline results and identifies tasks by stable names. Every event is followed by validate(), and every dispatch
// is checked.

import assert from 'node:assert/strict';
import { KIND_NUMBER, KIND_VALUE } from '../../protocol/resultKinds.js';
import type { Dispatch, Instruction, SchedulerEvent } from './events.js';
import {
  dependenciesOf,
  type FakeGraph,
  type FakeTask,
  FakeWorker,
  type FakeWorld,
  type Finished,
  GRAPH_NAMES,
  type Name,
} from './fakeWorker.test.support.js';
import { planRetry } from './retries.js';
import { Scheduler } from './scheduler.js';
import { CALLER } from './schedulerColumns.js';
import { requestedOf, toGraph } from './schedulerGraphs.test.support.js';
import type { Segment, SegmentPolicy } from './taskGraph.js';
import { MEMORY } from './taskStates.js';
import { validateState } from './validate.test.support.js';

export interface FakeClusterOptions {
  readonly maxTasks: number;
  readonly concurrentTasks: number;
  readonly allowedFailures: number;
  /** True if a worker's store keeps results from other stores. */
  readonly keepsStoreCopies: boolean;
  /** True if inputs from stores are fetched when the first task needs them, not at once. */
  readonly gathersLate: boolean;
  /** True if a worker answers a steal before it sends its other messages. */
  readonly stealsAtOnce: boolean;
}

export class FakeCluster implements FakeWorld {
  readonly scheduler: Scheduler;
  readonly graphs: FakeGraph[] = [];
  readonly segments: Segment[] = [];
  readonly workers = new Map<number, FakeWorker>();
  readonly runs = new Map<Name, number>();
  readonly inline = new Map<Name, number>();
  /** Results that a client requests. */
  readonly wanted = new Set<Name>();
  readonly erred = new Set<Name>();
  /** Tasks that a client has cancelled, and their dependents. They are not retried. */
  readonly cancelled = new Set<Name>();
  /** Tasks that ran while too many workers died, whether or not they caused it. */
  readonly killed = new Set<Name>();
  /** True if results were lost, so that data may be gone for good. */
  hasLosses = false;
  /** True if failed or released tasks ran again. */
  hasRetried = false;
  /** Number of messages in both directions. */
  messages = 0;
  readonly keepsStoreCopies: boolean;
  readonly #options: FakeClusterOptions;
  #nextWorker = 0;

  constructor(options: FakeClusterOptions) {
    this.#options = options;
    this.keepsStoreCopies = options.keepsStoreCopies;
    const { allowedFailures, maxTasks, concurrentTasks } = options;
    const limits = { maxTasks, minimumSeconds: 0 };
    this.scheduler = new Scheduler(null, { allowedFailures, concurrentTasks, limits });
  }

  /** Returns the scheduler's id of a task; -1 if its segment is dead. */
  idOf(name: Name): number {
    const segment = this.segments[Math.floor(name / GRAPH_NAMES)]!;
    return segment.dead ? -1 : segment.base + (name % GRAPH_NAMES);
  }

  nameOf(id: number): Name {
    const segment = this.scheduler.state.graph.segmentOf(id);
    return segment.number * GRAPH_NAMES + id - segment.base;
  }

  originOf(name: Name): Name {
    return this.graphs[Math.floor(name / GRAPH_NAMES)]!.imports.get(name % GRAPH_NAMES) ?? name;
  }

  addWorker(name: string, resources: ReadonlyMap<string, number>): void {
    const worker = this.#nextWorker++;
    this.workers.set(worker, new FakeWorker(this, worker, name, resources));
    this.handle({ type: 'worker-added', worker, name, resources });
  }

  /** Adds a graph and returns its number. `imports`: task → wanted result. */
  addGraph(
    tasks: readonly FakeTask[],
    imports: ReadonlyMap<number, Name>,
    extra: readonly number[],
    policy: SegmentPolicy,
  ): number {
    const number = this.graphs.length;
    const edges = tasks.map((task) => task.dependencies);
    const requested = requestedOf(edges, extra);
    const graph = toGraph(edges, requested);
    const origins = new Map(Array.from(imports, ([local, name]) => [local, this.originOf(name)]));
    this.graphs.push({
      tasks,
      imports: origins,
      dependentCounts: edges.map(
        (_list, id) => graph.dependentOffsets[id + 1]! - graph.dependentOffsets[id]!,
      ),
    });
    for (const local of requested) this.wanted.add(number * GRAPH_NAMES + local);
    const ids = new Map(Array.from(imports, ([local, name]) => [local, this.idOf(name)]));
    this.#handleAdding({ type: 'graph-added', graph, policy, imports: ids });
    return number;
  }

  /** Adds data without code, each on a worker or with the shell (CALLER). */
  scatter(holders: readonly number[]): void {
    const base = this.graphs.length * GRAPH_NAMES;
    const tasks = holders.map(
      (): FakeTask => ({ dependencies: [], throws: 0, kills: false, secedes: false, size: 'large' }),
    );
    this.graphs.push({ tasks, imports: new Map(), dependentCounts: holders.map(() => 0) });
    const requested = holders.map((_holder, local) => local);
    for (const [local, holder] of holders.entries()) {
      this.wanted.add(base + local);
      const place = holder === CALLER ? this.inline : this.workers.get(holder)?.store;
      place?.set(base + local, dataValue(base + local));
    }
    this.#handleAdding({
      type: 'graph-added',
      graph: toGraph(
        holders.map(() => []),
        requested,
      ),
      policy: { data: true },
      holders: Int32Array.from(holders),
      nbytes: Float64Array.from(holders, (_holder, local) => 10 ** (local % 10)),
    });
  }

  #handleAdding(event: SchedulerEvent): void {
    const instructions = this.scheduler.handle(event);
    this.segments.push(this.scheduler.lastSegment!);
    validateState(this.scheduler.state);
    this.#execute(instructions);
  }

  unwant(name: Name): void {
    this.wanted.delete(name);
    this.erred.delete(name);
    const id = this.idOf(name);
    if (id >= 0) this.handle({ type: 'results-unwanted', ids: [id] });
  }

  /** Cancels a result, so that the unfinished tasks that depend on it fail. */
  cancel(name: Name): void {
    this.handle({ type: 'tasks-cancelled', ids: [this.idOf(name)] });
    this.unwant(name);
  }

  want(name: Name): void {
    this.wanted.add(name);
    this.erred.delete(name);
    this.hasRetried = true;
    this.handle({ type: 'results-wanted', ids: [this.idOf(name)] });
  }

  /** Runs a failed task again, unless scattered data that it needs is gone. */
  retry(failed: Name): void {
    const mayRecover = (id: number): boolean => this.mayRetry(this.nameOf(id));
    const { ids, gone } = planRetry(this.scheduler.state, [this.idOf(failed)], mayRecover);
    if (gone.length > 0) return;
    this.hasRetried = true;
    assert.ok(ids.has(this.idOf(failed)), `task ${failed} is not retried`);
    for (const id of ids) for (const ended of [this.erred, this.cancelled]) ended.delete(this.nameOf(id));
    this.handle({ type: 'tasks-retried', ids });
  }

  /** Whether a client may retry the task if it has failed. */
  mayRetry(name: Name): boolean {
    return this.wanted.has(name) && !this.cancelled.has(name);
  }

  compact(): void {
    this.scheduler.compact(1);
    validateState(this.scheduler.state);
  }

  run(worker: FakeWorker): void {
    const killed = worker.runNext();
    if (killed !== undefined) this.remove(worker, this.idOf(killed), false);
  }

  remove(worker: FakeWorker, blame: number | 'none' | 'seceded' | 'unknown', restarted: boolean): void {
    this.hasLosses = true;
    if (restarted) worker.restart();
    else this.workers.delete(worker.index);
    this.handle({ type: 'worker-removed', worker: worker.index, blame, restarted });
    if (!restarted) this.addWorker(worker.name, worker.resources);
  }

  /** Closes a graph in the isolates once nothing of it is left to run. */
  close(choice: number): void {
    const open = this.segments.filter(({ dead, unfinished }) => !dead && unfinished === 0);
    const segment = open[choice % open.length];
    if (segment === undefined) return;
    for (const worker of this.workers.values()) worker.forget(segment.number);
    this.scheduler.forgetCopies(segment);
    validateState(this.scheduler.state);
  }

  /** Drops results from the isolate that have another holder and that no task of the worker needs. */
  evict(worker: FakeWorker): void {
    const { state } = this.scheduler;
    const { needed } = worker;
    const ids: number[] = [];
    for (const name of [...worker.results.keys()]) {
      const id = this.idOf(name);
      if (id < 0 || needed.has(name) || state.state[id] !== MEMORY || state.isPrivate(id)) continue;
      worker.results.delete(name);
      ids.push(id);
    }
    if (ids.length > 0) this.handle({ type: 'results-evicted', worker: worker.index, ids });
  }

  /** Delivers the next messages of a worker. Completions that follow each other arrive together. */
  receive(worker: FakeWorker, most: number): void {
    const finished: Finished[] = [];
    for (
      let next = worker.outbox[0];
      next?.type === 'finished' && finished.length < most;
      next = worker.outbox[0]
    ) {
      worker.outbox.shift();
      if (this.idOf(next.name) < 0) worker.drop(next.name);
      else finished.push(next);
    }
    if (finished.length > 0) {
      this.#receiveFinished(worker.index, finished);
      return;
    }
    const message = worker.outbox.shift();
    if (message === undefined || message.type === 'finished') return;
    const { index } = worker;
    if (message.type === 'seceded') {
      const id = this.idOf(message.name);
      if (id >= 0) this.handle({ type: 'task-seceded', worker: index, id, batch: message.batch });
    } else if (message.type === 'threw') {
      const id = this.idOf(message.name);
      const run = message.batch === undefined ? { final: true } : { batch: message.batch };
      if (id >= 0) this.handle({ type: 'task-erred', worker: index, id, ...run });
    } else if (message.type === 'stolen') {
      this.handle({ type: 'tasks-stolen', worker: index, ids: this.#idsOf(message.names) });
    } else if (message.type === 'missing') {
      this.handle({ type: 'results-missing', worker: message.holder, ids: this.#idsOf([message.name]) });
    } else {
      for (const name of message.stored) if (this.idOf(name) < 0) worker.drop(name);
      for (const [name, value] of message.inline) if (this.idOf(name) >= 0) this.inline.set(name, value);
      const stored = this.#idsOf(message.stored).map((id) => ({ id, nbytes: 10 ** (id % 10) }));
      const ids = this.#idsOf([...message.inline.keys(), ...message.stored]);
      const missing = this.#idsOf(message.missing);
      this.handle({ type: 'results-fetched', worker: index, ids, stored, missing });
    }
  }

  handle(event: SchedulerEvent): void {
    this.messages++;
    const instructions = this.scheduler.handle(event);
    validateState(this.scheduler.state);
    this.#execute(instructions);
  }

  #receiveFinished(worker: number, finished: readonly Finished[]): void {
    for (const { name, kind, value } of finished)
      if (kind === KIND_NUMBER || kind === KIND_VALUE) this.inline.set(name, value);
    this.handle({
      type: 'tasks-finished',
      worker,
      ids: Int32Array.from(finished, ({ name }) => this.idOf(name)),
      from: 0,
      to: finished.length,
      kinds: Uint8Array.from(finished, ({ kind }) => kind),
      batches: Int32Array.from(finished, ({ batch }) => batch),
      seconds: Float64Array.from(finished, ({ name }) => (name % 5) * 1e-4),
      nbytes: Float64Array.from(finished, ({ name }) => 10 ** (name % 10)),
    });
  }

  #idsOf(names: readonly Name[]): number[] {
    return names.map((name) => this.idOf(name)).filter((id) => id >= 0);
  }

  #execute(instructions: readonly Instruction[]): void {
    for (const instruction of instructions) this.#carryOut(instruction);
  }

  #carryOut(instruction: Instruction): void {
    this.messages++;
    const worker = 'worker' in instruction ? this.workers.get(instruction.worker) : undefined;
    switch (instruction.type) {
      case 'dispatch':
        if (worker !== undefined) this.#dispatch(worker, instruction);
        break;
      case 'release':
        for (const id of instruction.ids) this.inline.delete(this.nameOf(id));
        for (const { worker: holder, ids } of instruction.workers)
          for (const id of ids) this.workers.get(holder)?.drop(this.nameOf(id));
        break;
      case 'steal': {
        const names = worker?.steal(this.#namesOf(instruction.ids)) ?? [];
        if (this.#options.stealsAtOnce) worker?.outbox.unshift({ type: 'stolen', names });
        else worker?.outbox.push({ type: 'stolen', names });
        break;
      }
      case 'fetch':
        worker?.fetches.push([...this.#namesOf(instruction.ids)]);
        break;
      case 'cancel':
        worker?.cancel(this.#namesOf(instruction.ids));
        break;
      case 'erred':
        for (const id of instruction.ids) {
          this.erred.add(this.nameOf(id));
          if (instruction.cancelled) this.cancelled.add(this.nameOf(id));
        }
        break;
      case 'task-killed':
        this.killed.add(this.nameOf(instruction.id));
        break;
    }
  }

  #namesOf(ids: Int32Array): Set<Name> {
    return new Set(Array.from(ids, (id) => this.nameOf(id)));
  }

  #dispatch(worker: FakeWorker, { ids, batch, publish, keep, inputs }: Dispatch): void {
    const { graph } = this.scheduler.state;
    if (this.workers.size === 1) this.#checkPriority(ids[0]!);
    for (const id of inputs) this.#give(worker, id);
    const kept = this.#namesOf(keep);
    for (const entry of [...worker.queue, ...worker.seceded.map((one) => one.entry)])
      if (kept.has(entry.name)) entry.publish = false;
    for (const [at, id] of ids.entries()) {
      const name = this.nameOf(id);
      const { workers, resources } = graph.segmentOf(id);
      assert.ok(workers?.has(worker.name) ?? true, `task ${name} may not run on ${worker.name}`);
      for (const [resource, amount] of resources ?? [])
        assert.ok((worker.resources.get(resource) ?? 0) >= amount, `worker ${worker.name} lacks ${resource}`);
      for (const other of this.workers.values())
        assert.ok(!other.queue.some((entry) => entry.name === name), `task ${name} waits on two workers`);
      worker.queue.push({ name, batch, publish: publish[at] === 1 });
      worker.claims.set(name, batch);
      if (!this.hasLosses) this.#checkInputs(worker, name);
    }
  }

  /** Checks that no task that could run waits behind a task of a lower priority. */
  #checkPriority(sent: number): void {
    const { state } = this.scheduler;
    const placed = [...state.workers.values()].flatMap((known) => [...known.placed]);
    for (const id of [...state.queued, ...placed])
      assert.ok(state.priorityOf(id) <= state.priorityOf(sent), `task ${id} should run before ${sent}`);
  }

  #give(worker: FakeWorker, id: number): void {
    const { state } = this.scheduler;
    const name = this.nameOf(id);
    const origin = this.originOf(name);
    const originId = this.idOf(origin);
    const holder = state.location[originId]!;
    if (holder === CALLER) {
      const value = this.inline.get(origin);
      assert.notEqual(value, undefined, `input ${name} is not with the shell`);
      worker.receive(name, value!);
      return;
    }
    assert.notEqual(state.stored[originId], 0, `input ${name} is private to worker ${holder}`);
    const isThere = this.workers.get(holder)?.store.has(origin) ?? false;
    assert.ok(isThere || this.hasLosses, `input ${name} is not in the store of worker ${holder}`);
    worker.receiveLater(name, { holder, origin });
    if (!this.#options.gathersLate) worker.gather(name);
  }

  /** Checks that every input is at the worker, or comes with an earlier task or with the message. */
  #checkInputs(worker: FakeWorker, name: Name): void {
    const coming = new Set([...worker.queue.map((entry) => entry.name), worker.endless]);
    for (const dependency of dependenciesOf(this, name)) {
      const isThere =
        worker.results.has(dependency) ||
        worker.gathers.has(dependency) ||
        coming.has(dependency) ||
        worker.failed.has(dependency);
      assert.ok(isThere, `task ${name} was sent to worker ${worker.index} without ${dependency}`);
    }
  }
}

export function dataValue(name: Name): number {
  return name + 17;
}
