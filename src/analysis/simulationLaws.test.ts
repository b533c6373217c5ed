// Laws of all predictions: a change gains at most the work that it saves, and workers at most multiply the speed.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from '../base/properties.test.support.js';
import { type SyntheticSpec, syntheticTrace } from '../trace/syntheticTrace.test.support.js';
import { scaling } from './scaling.js';
import { scheduled } from './scheduledTrace.test.support.js';
import { simulate } from './simulate.js';
import { notSimulated, speedups } from './speedups.js';

interface Drawn {
  readonly seconds: number;
  readonly pick: number;
  readonly isRoot: boolean;
  readonly isAgain: boolean;
}

const drawn = fc.array(
  fc.record({
    seconds: fc.integer({ min: 1, max: 9 }),
    pick: fc.nat(),
    isRoot: fc.boolean(),
    isAgain: fc.boolean(),
  }),
  { minLength: 1, maxLength: 20 },
);

/** A run with a memory limit, after which some tasks run again on a worker that replaces a lost one. */
function troubled(rows: readonly Drawn[], workers: number, silence: number): SyntheticSpec {
  const placed = scheduled(
    rows.map(({ seconds, pick, isRoot }, i) => ({
      key: `t-${i}`,
      prefix: `p${i % 3}`,
      seconds,
      nbytes: 100,
      needs: isRoot || i === 0 ? [] : [`t-${pick % i}`],
    })),
    { workers },
  );
  let time = Math.max(...placed.tasks.map(({ stopped }) => stopped)) + silence;
  const lost = time;
  const again = placed.tasks
    .filter((_, i) => rows[i]?.isAgain === true)
    .map((task) => {
      const started = time;
      time += task.stopped - task.started;
      return {
        ...task,
        worker: 'next',
        attempt: 2,
        ready: lost,
        dispatched: lost,
        received: started,
        started,
        stopped: time,
      };
    });
  return {
    workers: [
      ...placed.workers.map(({ name }) => ({
        name,
        memoryLimit: 500,
        ...(name === 'w0' ? { stopped: lost } : {}),
      })),
      { name: 'next', memoryLimit: 500, started: lost },
    ],
    tasks: [...placed.tasks, ...again.map((task) => ({ ...task, needs: [] }))],
    intervals: [
      { worker: 'w0', action: 'compress', start: 0, stop: 0.5, nbytes: 100 },
      { worker: 'w0', action: 'disk-write', start: 0.5, stop: 1, nbytes: 1 },
    ],
  };
}

const count = fc.integer({ min: 1, max: 4 });

describe('predictions after the loss of workers', () => {
  it('never gain more than the work that a change saves', () => {
    fc.assert(
      fc.property(drawn, count, fc.integer({ min: 0, max: 50 }), (rows, workers, silence) => {
        const trace = syntheticTrace(troubled(rows, workers, silence));
        const now = simulate(trace).makespan;
        for (const prefix of new Set(rows.map((_, i) => `p${i % 3}`))) {
          const work = trace.tasks.duration.filter(
            (_, row) => trace.strings.get(trace.tasks.prefix[row] ?? -1) === prefix,
          );
          const saved = work.reduce((a, b) => a + b, 0) / 2;
          const then = simulate(trace, { faster: { [prefix]: 2 } }).makespan;
          assert.ok(now - then <= saved + 1e-6, `${prefix}: ${now} - ${then} > ${saved}`);
        }
        for (const { computed, gained } of speedups(trace)) assert.ok(gained <= computed / 2 + 1e-6);
      }),
    );
  });

  it('are never more times as fast as one worker than there are workers', () => {
    fc.assert(
      fc.property(drawn, count, count, fc.integer({ min: 0, max: 50 }), (rows, from, to, silence) => {
        const trace = syntheticTrace(troubled(rows, from, silence));
        for (const faster of [{}, { p0: 2 }]) {
          const one = simulate(trace, { workers: 1, faster }).makespan;
          const then = simulate(trace, { workers: to, faster }).makespan;
          assert.ok(one <= to * then * (1 + 1e-9), `${one} / ${then} on ${to}`);
        }
      }),
    );
  });

  it('are left out, with a reason, if most of the time is not that of tasks', () => {
    const rows = Array.from({ length: 20 }, (_, i) => ({
      seconds: 1,
      pick: 0,
      isRoot: true,
      isAgain: i < 6,
    }));
    const near = syntheticTrace(troubled(rows, 2, 0));
    assert.equal(notSimulated(near), '');
    assert.ok(speedups(near).length > 0);
    // A worker pauses for a minute between two of its tasks.
    const spec = troubled(rows, 2, 0);
    const later = (spec.tasks ?? []).map((task) =>
      task.started < 5 ? task : { ...task, started: task.started + 60, stopped: task.stopped + 60 },
    );
    const far = syntheticTrace({
      ...spec,
      tasks: later,
      events: [
        { time: 5, worker: 'w1', topic: 'worker-paused', text: 'w1' },
        { time: 65, worker: 'w1', topic: 'worker-unpaused', text: 'w1' },
      ],
    });
    assert.match(notSimulated(far), /^A simulation cannot stand for this run: .*6 tasks ran again.*1 pause/);
    assert.deepEqual(speedups(far), []);
    assert.equal(scaling(far, { workers: [1, 2] }).unfit, notSimulated(far));
    assert.equal(simulate(far, { workers: 1 }).unfit, notSimulated(far));
  });

  it('are left out, with a reason, if tasks take far longer on one worker than on the others', () => {
    const on = (worker: string, seconds: number) =>
      Array.from({ length: 12 / seconds }, (_, i) => ({
        key: `fit-${worker}${i}`,
        worker,
        submitted: 0,
        started: i * seconds,
        stopped: (i + 1) * seconds,
      }));
    assert.equal(notSimulated(syntheticTrace({ tasks: [...on('w0', 1), ...on('w1', 1)] })), '');
    const slow = syntheticTrace({ tasks: [...on('w0', 1), ...on('w1', 2)] });
    assert.match(
      notSimulated(slow),
      /^A simulation .*: tasks of 'fit' take 2\.0 times as long on worker 'w1'/,
    );
    assert.equal(simulate(slow, { workers: 4 }).unfit, notSimulated(slow));
  });

  it('are left out, with a reason, if tasks are bound to some of the workers', () => {
    const { tasks } = scheduled(
      Array.from({ length: 20 }, (_, i) => ({ key: `fit-${i}`, seconds: 1 })),
      { workers: 1 },
    );
    assert.equal(notSimulated(syntheticTrace({ tasks })), '');
    const workers = [{ name: 'w0' }, { name: 'w1' }];
    assert.match(
      notSimulated(syntheticTrace({ tasks, workers })),
      /^A simulation cannot stand for this run: 1 worker ran no task\. /,
    );
    // A worker that came for the last task could not run others.
    assert.equal(notSimulated(syntheticTrace({ tasks, workers: [{ name: 'w1', started: 19.5 }] })), '');
  });

  it('read and write results with the speed of their uncompressed bytes', () => {
    const tasks = Array.from({ length: 10 }, (_, i) => ({
      key: `make-${i}`,
      started: i,
      stopped: i + 1,
      nbytes: 1e8,
    }));
    const sum = { key: 'sum', started: 11, stopped: 12, needs: tasks.map(({ key }) => key) };
    const trace = syntheticTrace({
      workers: [{ name: 'w0', memoryLimit: 1e9 }],
      tasks: [...tasks, sum],
      intervals: [
        { worker: 'w0', action: 'compress', start: 8, stop: 8.5, nbytes: 4e8 },
        { worker: 'w0', action: 'disk-write', start: 8.5, stop: 8.6, nbytes: 1e6 },
      ],
    });
    assert.ok(simulate(trace, { memoryLimit: 5e8 }).makespan < 30);
  });
});
