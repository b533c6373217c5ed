// Simulations of graphs with a known result, and properties of every schedule.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from '../../base/properties.test.support.js';
import { Replay } from './replay.js';
import type { ReplayConditions, ReplayGraph, Submission } from './replayTypes.js';

const IDEAL: ReplayConditions = {
  workers: 1,
  startup: 0,
  stretch: new Float64Array(0),
  taskOverhead: 0,
  latency: 0,
  followLatency: 0,
  report: 0,
  sendsAhead: false,
  schedulerSeconds: 0,
  bandwidth: Number.POSITIVE_INFINITY,
  transferLatency: 0,
  memory: Number.POSITIVE_INFINITY,
  diskBandwidth: 1e9,
};

interface Task {
  readonly seconds: number;
  readonly needs?: readonly number[];
  readonly nbytes?: number;
  readonly submission?: number;
}

function graphOf(
  tasks: readonly Task[],
  submissions: readonly Submission[] = [{ cause: -1, delay: 0 }],
): ReplayGraph {
  const dependencies: number[] = [];
  const dependents: number[] = [];
  const dependencyOffsets = [0];
  const dependentOffsets = [0];
  for (const [id, { needs = [] }] of tasks.entries()) {
    dependencies.push(...needs);
    dependencyOffsets.push(dependencies.length);
    for (const [other, task] of tasks.entries()) if (task.needs?.includes(id)) dependents.push(other);
    dependentOffsets.push(dependents.length);
  }
  return {
    size: tasks.length,
    dependencyOffsets: Int32Array.from(dependencyOffsets),
    dependencies: Int32Array.from(dependencies),
    dependentOffsets: Int32Array.from(dependentOffsets),
    dependents: Int32Array.from(dependents),
    seconds: Float64Array.from(tasks, ({ seconds }) => seconds),
    kindOf: new Int32Array(tasks.length).fill(-1),
    firstCalls: new Float64Array(0),
    nbytes: Float64Array.from(tasks, ({ nbytes = 0 }) => nbytes),
    submissionOf: Int32Array.from(tasks, ({ submission = 0 }) => submission),
    submissions,
  };
}

const run = (
  tasks: readonly Task[],
  conditions: Partial<ReplayConditions> = {},
  submissions?: Submission[],
) => new Replay(graphOf(tasks, submissions), { ...IDEAL, ...conditions }).run();

/** Tasks that depend on some of the previous ones. */
const randomTasks = fc
  .array(
    fc.record({
      seconds: fc.integer({ min: 0, max: 9 }),
      picks: fc.array(fc.nat(), { maxLength: 3 }),
      nbytes: fc.nat(9),
    }),
    {
      minLength: 1,
      maxLength: 60,
    },
  )
  .map((rows) =>
    rows.map(
      ({ seconds, picks, nbytes }, id): Task => ({
        seconds,
        nbytes,
        needs: id === 0 ? [] : [...new Set(picks.map((pick) => pick % id))],
      }),
    ),
  );

function longestChain(tasks: readonly Task[]): number {
  const ends: number[] = [];
  for (const { seconds, needs = [] } of tasks)
    ends.push(seconds + Math.max(0, ...needs.map((id) => ends[id]!)));
  return Math.max(...ends);
}

describe('replaying a graph', () => {
  it('computes the results that a task joins on one worker, unless a remote scheduler sends tasks', () => {
    const leaf = { seconds: 1, nbytes: 1 };
    const tasks = [0, 5].flatMap((first) => [
      ...[leaf, leaf, leaf, leaf],
      { seconds: 1, needs: [0, 1, 2, 3].map((id) => first + id) },
    ]);
    assert.equal(run(tasks, { workers: 2, bandwidth: 1 }).makespan, 5);
    assert.equal(run(tasks, { workers: 2, bandwidth: 1, sendsAhead: true }).makespan, 7);
  });

  it("keeps Graham's bounds for any graph and any number of workers", () => {
    fc.assert(
      fc.property(randomTasks, fc.integer({ min: 1, max: 8 }), (tasks, workers) => {
        const work = tasks.reduce((sum, { seconds }) => sum + seconds, 0);
        const floor = longestChain(tasks);
        const { makespan, busy, finished } = run(tasks, { workers });
        assert.equal(finished, tasks.length);
        assert.ok(makespan >= Math.max(floor, work / workers) - 1e-9);
        assert.ok(makespan <= floor + (work - floor) / workers + 1e-9);
        assert.ok(makespan === 0 || Math.abs(busy - work / (workers * makespan)) < 1e-9);
      }),
    );
  });

  it('runs every task under any conditions, and never ends before the bound', () => {
    const conditions = fc.record({
      workers: fc.integer({ min: 1, max: 8 }),
      taskOverhead: fc.nat(2),
      latency: fc.nat(2),
      followLatency: fc.nat(2),
      sendsAhead: fc.boolean(),
      schedulerSeconds: fc.nat(2),
      bandwidth: fc.constantFrom(1, 10, Number.POSITIVE_INFINITY),
      transferLatency: fc.nat(2),
      memory: fc.constantFrom(0, 10, Number.POSITIVE_INFINITY),
      diskBandwidth: fc.constantFrom(1, 10),
    });
    fc.assert(
      fc.property(randomTasks, conditions, (tasks, given) => {
        const { makespan, finished } = run(tasks, given);
        const work = tasks.reduce((sum, { seconds }) => sum + seconds, 0);
        assert.equal(finished, tasks.length);
        assert.ok(makespan >= Math.max(longestChain(tasks), work / given.workers) - 1e-9);
      }),
    );
  });

  it('includes the time between tasks', () => {
    const three = [{ seconds: 1 }, { seconds: 1 }, { seconds: 1 }];
    assert.equal(run(three, { taskOverhead: 0.5 }).makespan, 4.5);
    // The first task waits for its message; the others arrive while the worker computes.
    assert.equal(run(three, { latency: 0.5 }).makespan, 3.5);
    assert.equal(run(three, { workers: 3, schedulerSeconds: 2 }).makespan, 7);
    const chain = [{ seconds: 1 }, { seconds: 1, needs: [0] }];
    assert.equal(run(chain, { followLatency: 0.25 }).makespan, 2.25);
  });

  it('runs tasks that a remote scheduler sent ahead while the next task is on its way', () => {
    const tasks = [{ seconds: 1 }, { seconds: 1, needs: [0] }, { seconds: 1 }];
    const far = { followLatency: 0.5, bandwidth: 1e9 };
    assert.equal(run(tasks, far).makespan, 3.5);
    assert.equal(run(tasks, { ...far, sendsAhead: true }).makespan, 3);
    // Without another task, the worker waits for the message.
    assert.equal(run(tasks.slice(0, 2), { ...far, sendsAhead: true }).makespan, 2.5);
  });

  it('transfers inputs, unless waiting for the worker with the inputs is faster', () => {
    const pair = (nbytes: number): Task[] => [
      { seconds: 1, nbytes },
      { seconds: 3, needs: [0] },
      { seconds: 3, needs: [0] },
    ];
    assert.equal(run(pair(1), { workers: 2, bandwidth: 1 }).makespan, 5);
    assert.equal(run(pair(100), { workers: 2, bandwidth: 1 }).makespan, 7);
    assert.equal(run(pair(100), { workers: 2 }).makespan, 4);
  });

  it('spills results that do not fit into memory, and reads them back', () => {
    const tasks = [
      { seconds: 1, nbytes: 10 },
      { seconds: 1, nbytes: 10 },
      { seconds: 1, needs: [0, 1] },
    ];
    assert.equal(run(tasks, { memory: 20, diskBandwidth: 10 }).makespan, 3);
    const tight = run(tasks, { memory: 10, diskBandwidth: 10 });
    assert.deepEqual([tight.makespan, tight.spilled], [5, 10]);
  });

  it('submits tasks when the client did', () => {
    const tasks = [
      { seconds: 1, submission: 0 },
      { seconds: 1, submission: 1 },
      { seconds: 1, submission: 2 },
    ];
    const submissions = [
      { cause: -1, delay: 0 },
      { cause: -1, delay: 0.5 },
      { cause: 1, delay: 2 },
    ];
    assert.equal(run(tasks, {}, submissions).makespan, 5);
    assert.equal(run(tasks, { workers: 9 }, submissions).makespan, 4.5);
  });
});
