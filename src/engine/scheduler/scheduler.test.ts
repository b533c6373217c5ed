// Tests the state machine against simulated workers: random graphs, and workers that run, report late, lose tasks to
// a thief, and die at any moment. Every step is validated. The results must equal those of a plain recursive
// evaluation.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../base/properties.test.support.js';
import { KIND_NUMBER, KIND_PRIVATE, KIND_VALUE } from '../../protocol/resultKinds.js';
import type { Dispatch, Instruction, SchedulerEvent } from './events.js';
import { Scheduler } from './scheduler.js';
import { type Edges, finished, requestedOf, resultOf, toGraph } from './schedulerGraphs.test.support.js';
import { validateState } from './validate.test.support.js';

const anyEdges: fc.Arbitrary<Edges> = fc
  .array(fc.array(fc.nat(), { maxLength: 4 }), { minLength: 1, maxLength: 60 })
  .map((lists) => lists.map((list, id) => [...new Set(id === 0 ? [] : list.map((raw) => raw % id))]));

/** Trees in depth-first order: each number is a task that uses so many of the last results that no other task uses. */
const trees: fc.Arbitrary<Edges> = fc
  .array(fc.constantFrom(0, 0, 0, 1, 2, 3, 8), { minLength: 1, maxLength: 60 })
  .map((counts) => {
    const unused: number[] = [];
    return counts.map((count, id) => {
      const edges = unused.splice(Math.max(0, unused.length - count));
      unused.push(id);
      return edges;
    });
  });

const edgesArbitrary = fc.oneof(anyEdges, trees);

function evaluate(edges: Edges): number[] {
  const values: number[] = [];
  for (const [id, list] of edges.entries())
    values.push(
      resultOf(
        id,
        list.map((other) => values[other]!),
      ),
    );
  return values;
}

interface FakeWorker {
  readonly results: Map<number, number>;
  readonly uses: Map<number, number>;
  readonly queue: { readonly id: number; publish: boolean }[];
  /** Tasks that are done and not reported yet. */
  readonly unreported: { id: number; kind: number }[];
}

class Simulation {
  readonly scheduler: Scheduler;
  readonly results = new Map<number, number>();
  readonly runs: number[];
  readonly #edges: Edges;
  readonly #dependentCounts: number[];
  readonly #workers = new Map<number, FakeWorker>();
  readonly #late: SchedulerEvent[] = [];
  killed: number | undefined;
  #nextWorker = 0;

  /** @param known whether the durations of tasks are known before they run */
  constructor(
    edges: Edges,
    requested: readonly number[],
    maxTasks: number,
    known: boolean,
    priorities?: readonly number[],
  ) {
    this.#edges = edges;
    this.runs = edges.map(() => 0);
    const graph = toGraph(edges, requested);
    this.#dependentCounts = edges.map(
      (_list, id) => graph.dependentOffsets[id + 1]! - graph.dependentOffsets[id]!,
    );
    this.scheduler = new Scheduler(
      { ...graph, priorities: priorities && Float64Array.from(edges, (_list, id) => priorities[id] ?? 0) },
      {
        allowedFailures: 1000,
        limits: { maxTasks, minimumSeconds: 0 },
        expected: new Float64Array(graph.functionCount + 1).fill(known ? 1e-4 : 0),
      },
    );
  }

  get workerCount(): number {
    return this.#workers.size;
  }

  addWorker(): void {
    const index = this.#nextWorker++;
    this.#workers.set(index, { results: new Map(), uses: new Map(), queue: [], unreported: [] });
    this.#handle({ type: 'worker-added', worker: index });
  }

  /** Makes one move, chosen by a random number. */
  step(choice: number): void {
    const indices = [...this.#workers.keys()];
    const index = indices[choice % indices.length]!;
    const worker = this.#workers.get(index)!;
    const move = Math.floor(choice / 16) % 16;
    if (move < 9) this.#runNext(worker);
    else if (move < 12) this.#report(index, worker, 1 + (choice % 3));
    else if (move === 12) this.#handle({ type: 'idle-check' });
    else if (move < 15) this.#answerLate();
    else this.#kill(index, worker, choice % 3);
  }

  /** Runs everything that is in progress to its end. */
  finish(): void {
    for (let round = 0; !this.scheduler.isDone; round++) {
      assert.ok(round < 10_000, 'the simulation does not end');
      for (const [index, worker] of [...this.#workers]) {
        this.#runNext(worker);
        this.#report(index, worker, worker.unreported.length);
      }
      this.#answerLate();
      if (round % 10 === 9) this.#handle({ type: 'idle-check' });
    }
  }

  #handle(event: SchedulerEvent): void {
    const instructions = this.scheduler.handle(event);
    validateState(this.scheduler.state);
    for (const instruction of instructions) this.#carryOut(instruction);
  }

  #carryOut(instruction: Instruction): void {
    switch (instruction.type) {
      case 'dispatch':
        this.#dispatch(instruction);
        break;
      case 'release':
        for (const id of instruction.ids) this.results.delete(id);
        for (const { worker, ids } of instruction.workers)
          for (const id of ids) this.#workers.get(worker)?.results.delete(id);
        break;
      case 'steal': {
        const worker = this.#workers.get(instruction.worker);
        if (worker === undefined) break;
        const wanted = new Set(instruction.ids);
        const stolen = [...instruction.ids].filter((id) => worker.queue.some((entry) => entry.id === id));
        worker.queue.splice(
          0,
          Number.POSITIVE_INFINITY,
          ...worker.queue.filter((entry) => !wanted.has(entry.id)),
        );
        this.#late.push({ type: 'tasks-stolen', worker: instruction.worker, ids: stolen });
        break;
      }
      case 'fetch': {
        const worker = this.#workers.get(instruction.worker);
        if (worker === undefined) break;
        this.#late.push({
          type: 'results-fetched',
          worker: instruction.worker,
          ids: [...instruction.ids],
          missing: [],
        });
        break;
      }
      case 'task-killed':
        this.killed = instruction.id;
        break;
    }
  }

  #dispatch({ worker: index, ids, publish, keep, inputs }: Dispatch): void {
    const worker = this.#workers.get(index)!;
    const { state } = this.scheduler;
    for (const id of ids)
      for (const queued of state.queued)
        assert.ok(state.priorityOf(queued) <= state.priorityOf(id), `task ${queued} should run before ${id}`);
    for (const id of inputs) {
      const value = this.results.get(id);
      assert.notEqual(value, undefined, `input ${id} is not with the caller`);
      worker.results.set(id, value!);
      worker.uses.set(id, Number.POSITIVE_INFINITY);
    }
    for (const entry of worker.queue) if (keep.includes(entry.id)) entry.publish = false;
    for (const [at, id] of ids.entries()) worker.queue.push({ id, publish: publish[at] === 1 });
  }

  #runNext(worker: FakeWorker): void {
    const entry = worker.queue.shift();
    if (entry === undefined) return;
    const { id, publish } = entry;
    const inputs = this.#edges[id]!.map((other) => {
      const value = worker.results.get(other);
      assert.notEqual(value, undefined, `task ${id} lacks ${other}`);
      return value!;
    });
    this.runs[id]!++;
    const value = resultOf(id, inputs);
    if (this.#dependentCounts[id]! > 0) {
      worker.results.set(id, value);
      worker.uses.set(id, this.#dependentCounts[id]!);
    }
    const scalar = id % 2 === 0;
    const kind = scalar ? KIND_NUMBER : publish ? KIND_VALUE : KIND_PRIVATE;
    worker.unreported.push({ id, kind });
    if (kind !== KIND_PRIVATE) worker.results.set(-1 - id, value);
    for (const other of this.#edges[id]!) {
      const uses = worker.uses.get(other)! - 1;
      worker.uses.set(other, uses);
      if (uses === 0) worker.results.delete(other);
    }
  }

  #report(index: number, worker: FakeWorker, count: number): void {
    const reported = worker.unreported.splice(0, count);
    if (reported.length === 0) return;
    for (const { id, kind } of reported)
      if (kind !== KIND_PRIVATE) this.results.set(id, worker.results.get(-1 - id)!);
    this.#handle({
      type: 'tasks-finished',
      worker: index,
      ids: Int32Array.from(reported, ({ id }) => id),
      from: 0,
      to: reported.length,
      kinds: Uint8Array.from(reported, ({ kind }) => kind),
      seconds: Float64Array.from(reported, ({ id }) => (id % 5) * 1e-4),
    });
  }

  #answerLate(): void {
    const event = this.#late.shift();
    if (event === undefined || !('worker' in event) || !this.#workers.has(event.worker)) return;
    if (event.type !== 'results-fetched') {
      this.#handle(event);
      return;
    }
    const { results } = this.#workers.get(event.worker)!;
    const ids = event.ids.filter((id) => results.has(id));
    for (const id of ids) this.results.set(id, results.get(id)!);
    this.#handle({ ...event, ids, missing: event.ids.filter((id) => !results.has(id)) });
  }

  #kill(index: number, worker: FakeWorker, kind: number): void {
    this.#workers.delete(index);
    const running = worker.queue[0]?.id;
    const blame = kind === 0 || running === undefined ? 'none' : kind === 1 ? 'unknown' : running;
    this.#handle({ type: 'worker-removed', worker: index, blame });
    this.addWorker();
  }
}

test('random graphs on random workers that die give what a plain evaluation gives', () => {
  fc.assert(
    fc.property(
      edgesArbitrary,
      fc.array(fc.nat(), { maxLength: 3 }),
      fc.integer({ min: 1, max: 4 }),
      fc.constantFrom(1, 3, 4096),
      fc.array(fc.nat({ max: 1 << 20 }), { maxLength: 300 }),
      fc.boolean(),
      fc.option(fc.array(fc.integer({ min: -2, max: 2 })), { nil: undefined }),
      (edges, extra, workers, maxTasks, choices, known, priorities) => {
        const requested = requestedOf(edges, extra);
        const simulation = new Simulation(edges, requested, maxTasks, known, priorities);
        for (let index = 0; index < workers; index++) simulation.addWorker();
        for (const choice of choices) {
          if (simulation.scheduler.isDone) break;
          simulation.step(choice);
        }
        simulation.finish();
        const expected = evaluate(edges);
        for (const id of requested) assert.equal(simulation.results.get(id), expected[id]);
      },
    ),
    { numRuns: 2000, includeErrorInReport: true },
  );
});

test('without deaths every task runs once', () => {
  fc.assert(
    fc.property(
      edgesArbitrary,
      fc.integer({ min: 1, max: 4 }),
      fc.constantFrom(1, 5, 4096),
      fc.boolean(),
      (edges, workers, maxTasks, known) => {
        const simulation = new Simulation(edges, requestedOf(edges, []), maxTasks, known);
        for (let index = 0; index < workers; index++) simulation.addWorker();
        simulation.finish();
        assert.deepEqual(
          simulation.runs,
          edges.map(() => 1),
        );
      },
    ),
    { numRuns: 500, includeErrorInReport: true },
  );
});

test('a result is released once its last dependent has run, a requested one never', () => {
  const edges: Edges = [[], [0], [0], [1, 2]];
  const simulation = new Simulation(edges, [1, 3], 4096, false);
  simulation.addWorker();
  simulation.finish();
  assert.deepEqual([...simulation.results.keys()].sort(), [1, 3]);
  assert.equal(simulation.scheduler.stateName(0), 'forgotten');
  assert.equal(simulation.scheduler.stateName(1), 'memory');
});

test('a task that was running three times when its worker died is not tried again', () => {
  const scheduler = new Scheduler(toGraph([[], [0]], [1]));
  scheduler.handle({ type: 'worker-added', worker: 0 });
  for (let death = 0; death < 3; death++) {
    const instructions = scheduler.handle({ type: 'worker-removed', worker: death, blame: 0 });
    const killed = instructions.find((instruction) => instruction.type === 'task-killed');
    if (death < 2) {
      assert.equal(killed, undefined);
      const [dispatch] = scheduler.handle({ type: 'worker-added', worker: death + 1 });
      assert.equal(dispatch?.type, 'dispatch');
      assert.deepEqual(dispatch?.type === 'dispatch' ? [...dispatch.ids] : [], [0], 'it runs alone');
    } else {
      assert.deepEqual(killed, { type: 'task-killed', worker: 2, id: 0, attempts: 3 });
    }
  }
});

test('a result that its worker dropped before it could be fetched is computed again', () => {
  const scheduler = new Scheduler(toGraph([[], [0], [0]], [1, 2]));
  const handle = (event: SchedulerEvent): Instruction[] => {
    const instructions = scheduler.handle(event);
    validateState(scheduler.state);
    return instructions;
  };
  const finish = (worker: number, id: number, kind: number): Instruction[] =>
    handle(finished(worker, id, kind, 1e-4));
  handle({ type: 'worker-added', worker: 0 });
  handle({ type: 'worker-added', worker: 1 });
  const [steal] = finish(0, 0, KIND_PRIVATE);
  assert.deepEqual(steal, { type: 'steal', worker: 0, ids: Int32Array.of(2), thief: 1 });
  const [fetch] = handle({ type: 'tasks-stolen', worker: 0, ids: [2] });
  assert.deepEqual(fetch, { type: 'fetch', worker: 0, ids: Int32Array.of(0) });
  const again = handle({ type: 'results-fetched', worker: 0, ids: [], missing: [0] });
  const dispatch = again.find((each): each is Dispatch => each.type === 'dispatch' && each.ids.includes(0));
  assert.ok(dispatch, 'the lost result is computed again');
  finish(0, 1, KIND_NUMBER);
  finish(dispatch.worker, 0, KIND_NUMBER);
  const holder = scheduler.state.location[2]!;
  finish(holder, 2, KIND_NUMBER);
  assert.ok(scheduler.isDone);
});

test('a forbidden transition is an error with the story of the task', () => {
  const scheduler = new Scheduler(toGraph([[]], [0]));
  assert.throws(() => scheduler.state.transition(0, 4), {
    code: 'ERR_LONGPOLE_INTERNAL',
    message: /may not go from queued to memory.*released/s,
  });
});
