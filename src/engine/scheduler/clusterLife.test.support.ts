// Simulates the life of a cluster, move by move. Graphs come and go, import from each other, fail, are cancelled, and
// lose results and workers in any order. In the end, wanted results must equal those of a plain evaluation, or have
// erred where they must. Nothing may be left behind.
import assert from 'node:assert/strict';
import { dataValue, FakeCluster, type FakeClusterOptions } from './fakeCluster.test.support.js';
import {
  dependenciesOf,
  type FakeTask,
  type FakeWorker,
  GRAPH_NAMES,
  type Name,
  taskOf,
} from './fakeWorker.test.support.js';
import { CALLER } from './schedulerColumns.js';
import { resultOf } from './schedulerGraphs.test.support.js';
import { ERRED, MEMORY } from './taskStates.js';

export interface GraphSpec {
  readonly lists: readonly (readonly number[])[];
  /** Specification of each task, see taskOfSpec. */
  readonly kinds: readonly number[];
  readonly imports: readonly number[];
  readonly extra: readonly number[];
  readonly priority: number;
  readonly workers: readonly string[] | null;
  readonly gpus: number;
  readonly retries: number;
  readonly isData: boolean;
}

/** Faults that may happen. */
export interface Trouble {
  readonly throws: boolean;
  readonly losses: boolean;
  readonly cancels: boolean;
  readonly secedes: boolean;
  /** Whether clients retry failed tasks, and request inputs of ended tasks. */
  readonly again: boolean;
}

export const CALM: Trouble = { throws: false, losses: false, cancels: false, secedes: false, again: false };
/** Number of failed attempts of a task that never succeeds. */
const ALWAYS = 1e9;
const WORKERS = ['a', 'b', 'c', 'd'];
const SIZES = ['scalar', 'scalar', 'small', 'large', 'large'] as const;

function taskOfSpec(kind: number, dependencies: readonly number[], trouble: Trouble): FakeTask {
  const luck = Math.floor(kind / 5) % 40;
  return {
    dependencies,
    size: trouble.throws && luck === 4 ? 'bound' : SIZES[kind % 5]!,
    throws: trouble.throws && luck < 3 ? [1, 2, ALWAYS][luck]! : 0,
    kills: trouble.throws && trouble.losses && luck === 3,
    secedes: trouble.secedes && Math.floor(kind / 200) === 1,
  };
}

/** Fate of a task in a plain evaluation. */
interface Fate {
  readonly value: number;
  readonly mayFail: boolean;
  readonly mustFail: boolean;
}

export class Life {
  readonly cluster: FakeCluster;
  readonly #trouble: Trouble;
  readonly #specs: GraphSpec[];
  readonly #fates = new Map<Name, Fate>();

  constructor(options: FakeClusterOptions, specs: readonly GraphSpec[], workers: number, trouble: Trouble) {
    this.cluster = new FakeCluster(options);
    this.#trouble = trouble;
    this.#specs = [...specs];
    for (let index = 0; index < workers; index++)
      this.cluster.addWorker(WORKERS[index]!, new Map([['GPU', index % 2]]));
  }

  /** Makes one move, chosen by a random number. */
  step(choice: number): void {
    const { cluster } = this;
    const workers = [...cluster.workers.values()];
    const worker = workers[choice % workers.length]!;
    const detail = Math.floor(choice / 8) % 64;
    const move = Math.floor(choice / 512) % 32;
    if (move < 2 && this.#trouble.secedes) worker.endSeceded(detail);
    else if (move < 10) cluster.run(worker);
    else if (move < 16) cluster.receive(worker, 1 + (detail % 4));
    else if (move < 18) worker.answerFetch();
    else if (move < 21) this.#addGraph();
    else if (move === 21) cluster.handle({ type: 'idle-check' });
    else if (move === 22) cluster.evict(worker);
    else if (move === 23) cluster.compact();
    else if (move === 24)
      cluster.handle({ type: 'worker-paused', worker: worker.index, paused: detail % 2 === 0 });
    else if (move === 25) cluster.close(detail);
    else if (move === 26 && detail % 2 === 0 && this.#trouble.again) this.#retry(detail);
    else if (move === 27 && detail % 2 === 0 && this.#trouble.again) this.#want(detail);
    else if (move < 28 && this.#trouble.cancels) this.#unwant(detail);
    else if (move >= 28 && this.#trouble.losses) this.#lose(worker, detail);
  }

  /** Adds the graphs that are left, and workers of which each task finds one that may run it. */
  #addTheRest(): void {
    while (this.#specs.length > 0) this.#addGraph();
    for (const name of [...WORKERS, 'missing']) this.cluster.addWorker(name, new Map([['GPU', 2]]));
  }

  /** Makes one task endless, and checks that all tasks end that neither depend on it nor need its worker. */
  checkBesideEndless(choice: number): void {
    const { cluster } = this;
    const { state } = cluster.scheduler;
    this.#addTheRest();
    const busy = [...cluster.workers.values()].filter(({ queue }) => queue.length > 0);
    const worker = busy[choice % busy.length];
    if (worker === undefined) return;
    worker.hang();
    for (let round = 0; round < 300; round++) {
      this.#drain();
      state.now += 10;
      cluster.handle({ type: 'idle-check' });
    }
    for (const name of cluster.wanted)
      if (!this.#needs(name, worker))
        assert.ok(state.isFinished(cluster.idOf(name)), `${name} waits behind ${worker.endless}`);
  }

  /** Returns whether `name` is the worker's endless task, or only this or a paused worker may run it or a dependency. */
  #needs(name: Name, worker: FakeWorker): boolean {
    const { cluster } = this;
    const { state } = cluster.scheduler;
    const origin = cluster.originOf(name);
    const id = cluster.idOf(origin);
    if (origin === worker.endless || (id >= 0 && state.isFinished(id))) return origin === worker.endless;
    const others = [...state.workers.values()].filter(
      ({ index, paused }) => index !== worker.index && !paused,
    );
    if (!others.some((other) => state.mayRun(id, other))) return true;
    return dependenciesOf(cluster, origin).some((dependency) => this.#needs(dependency, worker));
  }

  /** Runs everything that is in progress to its end. */
  finish(): void {
    const { cluster } = this;
    this.#addTheRest();
    for (let round = 0; !this.#isSettled(); round++) {
      assert.ok(round < 10_000, 'the simulation does not end');
      const before = cluster.messages;
      // The messages of two idle checks are not progress.
      for (let turn = 0; turn < 20; turn++) {
        this.#drain();
        if (turn % 10 === 9) cluster.handle({ type: 'idle-check' });
      }
      assert.ok(this.#isSettled() || cluster.messages > before + 2, 'nothing happens any more');
    }
  }

  /** Checks that every wanted result is there and right, or erred where it may. */
  check(): void {
    const { cluster } = this;
    for (const name of cluster.wanted) {
      const fate = this.#fate(name);
      const isErred = cluster.scheduler.state.state[cluster.idOf(name)] === ERRED;
      assert.equal(cluster.erred.has(name), isErred, `whether ${name} has erred`);
      // An import that was cancelled with its original stays cancelled if only the original is retried.
      if (isErred) assert.ok(fate.mayFail || cluster.cancelled.has(name), `${name} has erred for no reason`);
      else {
        assert.ok(!fate.mustFail, `${name} should have erred`);
        assert.equal(this.#result(name), fate.value, `result of ${name}`);
      }
    }
  }

  /** Checks that without losses no task ran twice, and that few messages were sent. */
  checkEffort(): void {
    const { cluster } = this;
    for (const [name, runs] of cluster.runs) assert.equal(runs, 1, `runs of ${name}`);
    const tasks = cluster.graphs.reduce((sum, graph) => sum + graph.tasks.length, 0);
    assert.ok(cluster.messages <= 8 * tasks + 400, `${cluster.messages} messages for ${tasks} tasks`);
  }

  /** Checks that nothing is left once no client needs a result. */
  end(): void {
    const { cluster } = this;
    for (const name of [...cluster.wanted]) cluster.unwant(name);
    for (let round = 0; round < 200; round++) this.#drain();
    cluster.compact();
    const { state } = cluster.scheduler;
    assert.equal(state.graph.size, 0, 'tasks are left');
    assert.deepEqual([...state.counts], [0, 0, 0, 0, 0, 0, 0]);
    for (const kept of [state.held, state.awaited, state.parked, state.queued, state.graph.importers])
      assert.equal(kept.size, 0);
    assert.deepEqual([...cluster.inline.keys()], [], 'the shell keeps results');
    for (const worker of cluster.workers.values()) {
      assert.deepEqual([...worker.store.keys()], [], 'a store keeps results');
      const bulky = [...worker.results.keys(), ...worker.gathers.keys()].filter((name) =>
        this.#isBulky(name),
      );
      assert.deepEqual(bulky, [], 'an isolate keeps results');
      assert.deepEqual(worker.queue, []);
      assert.deepEqual(worker.seceded, []);
      const known = state.workers.get(worker.index)!;
      assert.equal(known.seceded.size, 0);
      assert.equal(known.outstanding + known.batches.length + known.placed.size + known.followers.size, 0);
      assert.equal(known.storeCopies.size + known.unusedCopies.size + known.replicas.size, 0);
    }
  }

  #addGraph(): void {
    const spec = this.#specs.shift();
    if (spec === undefined) return;
    const { cluster } = this;
    if (spec.isData && spec.lists.length < 5) {
      const places = [CALLER, ...cluster.workers.keys()];
      cluster.scatter(spec.kinds.slice(0, spec.lists.length).map((kind) => places[kind % places.length]!));
      return;
    }
    const wanted = [...cluster.wanted].filter((name) => !cluster.cancelled.has(cluster.originOf(name)));
    const imports = new Map(
      (wanted.length === 0 ? [] : spec.imports).map((raw, local) => [local, wanted[raw % wanted.length]!]),
    );
    const count = Math.max(spec.lists.length, imports.size);
    const tasks = Array.from({ length: count }, (_none, id) => {
      const list = id === 0 || id < imports.size ? [] : (spec.lists[id] ?? []);
      return taskOfSpec(spec.kinds[id]!, [...new Set(list.map((raw) => raw % id))], this.#trouble);
    });
    cluster.addGraph(tasks, imports, spec.extra, {
      priority: spec.priority,
      workers: spec.workers === null ? null : new Set(spec.workers),
      resources: spec.gpus === 0 ? null : new Map([['GPU', spec.gpus]]),
      retries: spec.retries,
    });
  }

  #unwant(detail: number): void {
    const { cluster } = this;
    const wanted = [...cluster.wanted];
    const name = wanted[detail % wanted.length];
    if (name === undefined) return;
    // Clients hold the original of an import.
    if (detail % 3 === 0 && cluster.originOf(name) === name) cluster.cancel(name);
    else cluster.unwant(name);
  }

  /** Requests an input of a task that has ended, as `recreateTaskLocally` does. */
  #want(detail: number): void {
    const { cluster } = this;
    const { state, failed } = cluster.scheduler.state;
    const ended = [...cluster.wanted].filter((name) => {
      const id = cluster.idOf(cluster.originOf(name));
      return state[id] === MEMORY || (state[id] === ERRED && failed.has(id));
    });
    const inputs = ended.flatMap((name) => dependenciesOf(cluster, cluster.originOf(name)));
    const input = inputs.length > 0 ? cluster.originOf(inputs[detail % inputs.length]!) : undefined;
    if (input !== undefined && !cluster.wanted.has(input)) cluster.want(input);
  }

  /** Retries a failed result, also while reports of its cancelled tasks are on their way. */
  #retry(detail: number): void {
    const { cluster } = this;
    const erred = [...cluster.wanted].filter((name) => cluster.erred.has(name) && cluster.mayRetry(name));
    if (erred.length > 0) cluster.retry(erred[detail % erred.length]!);
  }

  #lose(worker: FakeWorker, detail: number): void {
    const { cluster } = this;
    if (detail % 2 === 0) {
      const stored = [...worker.store.keys()];
      cluster.hasLosses = true;
      if (stored.length > 0) worker.store.delete(stored[detail % stored.length]!);
      return;
    }
    const running = worker.queue[0];
    const runningId = running === undefined ? -1 : cluster.idOf(running.name);
    const idle = this.#trouble.secedes ? 'seceded' : 'none';
    const blames = [idle, 'unknown', runningId < 0 ? 'none' : runningId] as const;
    cluster.remove(worker, blames[detail % 3]!, Math.floor(detail / 8) % 2 === 0);
  }

  #drain(): void {
    const { cluster } = this;
    for (const worker of [...cluster.workers.values()]) {
      cluster.run(worker);
      if (cluster.workers.get(worker.index) !== worker) continue;
      worker.endSeceded(0);
      while (worker.fetches.length > 0) worker.answerFetch();
      while (worker.outbox.length > 0) cluster.receive(worker, 100);
    }
  }

  #isSettled(): boolean {
    const { cluster } = this;
    const { state } = cluster.scheduler;
    for (const name of cluster.wanted) {
      const id = cluster.idOf(name);
      if (state.state[id] === ERRED) continue;
      if (state.state[id] !== MEMORY) return false;
      const origin = cluster.idOf(cluster.originOf(name));
      if (this.#result(name) !== undefined) continue;
      cluster.handle({ type: 'results-missing', worker: state.location[origin]!, ids: [origin] });
      return false;
    }
    return true;
  }

  #result(name: Name): number | undefined {
    const { cluster } = this;
    const origin = cluster.originOf(name);
    const holder = cluster.scheduler.state.location[cluster.idOf(origin)]!;
    return holder === CALLER ? cluster.inline.get(origin) : cluster.workers.get(holder)?.store.get(origin);
  }

  #isBulky(name: Name): boolean {
    return taskOf(this.cluster, this.cluster.originOf(name)).size !== 'scalar';
  }

  #fate(name: Name): Fate {
    const origin = this.cluster.originOf(name);
    const known = this.#fates.get(origin) ?? this.#evaluate(origin);
    this.#fates.set(origin, known);
    return known;
  }

  #evaluate(name: Name): Fate {
    const { cluster } = this;
    const { data, retries } = cluster.segments[Math.floor(name / GRAPH_NAMES)]!;
    const isCancelled = cluster.cancelled.has(name);
    if (data) return { value: dataValue(name), mayFail: cluster.hasLosses || isCancelled, mustFail: false };
    const task = taskOf(cluster, name);
    const inputs = dependenciesOf(cluster, name).map((dependency) => this.#fate(dependency));
    // The report of a failure may be lost with its worker; the task has one more attempt then.
    const allowed = cluster.hasLosses || cluster.hasRetried ? ALWAYS - 1 : retries;
    const mustFail = task.kills || task.throws > allowed || inputs.some((input) => input.mustFail);
    const mayFail =
      mustFail ||
      task.throws > retries ||
      task.size === 'bound' ||
      cluster.killed.has(name) ||
      isCancelled ||
      inputs.some((input) => input.mayFail);
    return {
      value: resultOf(
        name,
        inputs.map((input) => input.value),
      ),
      mayFail,
      mustFail,
    };
  }
}
