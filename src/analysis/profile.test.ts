import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from '../base/properties.test.support.js';
import { cycleOf } from '../profile/samples.test.support.js';
import { type ProfileCycle, STACK_IDLE, STACK_RUNTIME } from '../protocol/clusterObserver.js';
import { LiveTrace } from '../trace/live/liveTrace.js';
import {
  type ProfileTreeOptions,
  profiledPrefixes,
  profileTimeline,
  profileTree,
  samplingInterval,
} from './profile.js';

/** Task 1 is `load-1` in the span Alice / load; task 2 is `sum-2` outside any span. */
const kindOf = (task: number) =>
  task === 1 ? { prefix: 'load', span: ['Alice', 'load'] } : { prefix: 'sum', span: ['default'] };

function cycle(start: number): ProfileCycle {
  return {
    thread: 'threads-0',
    start,
    stop: start + 1,
    interval: 0.1,
    parents: Int32Array.of(-1, 0, -1),
    names: ['load', 'parse', 'sum'],
    files: ['/a.ts', '/a.ts', '/b.ts'],
    lines: Int32Array.of(3, 9, 1),
    times: Float64Array.of(start, start + 0.1, start + 0.2, start + 0.3, start + 0.4, start + 0.5),
    stacks: Int32Array.of(0, 1, 1, 2, STACK_IDLE, STACK_RUNTIME),
    sampleLines: Int32Array.of(4, 10, 11, 2, 0, 0),
    tasks: Float64Array.of(1, 1, 1, 2, -1, -1),
  };
}

function recorded() {
  const live = new LiveTrace({ window: { samples: 16 } });
  for (const index of [0, 1])
    live.workerAdded({
      index,
      name: `threads-${index}`,
      address: `thread://1/${index}`,
      host: 'host',
      pid: 1,
      threads: 1,
      memoryLimit: 0,
      startTime: 0,
    });
  for (let second = 0; second < 20; second++) live.profile(second % 2, cycle(100 + second), kindOf);
  live.profile(-1, cycle(200), () => undefined);
  return live.snapshot();
}

const PREFIXES = ['load', 'sum', 'write'];

/** Generates the trace of a worker from consecutive cycles with a few samples each, most of them summed. */
const TRACES = fc
  .array(
    fc.array(
      fc.record({
        offset: fc.double({ min: 0, max: 0.99, noNaN: true }),
        task: fc.integer({ min: 0, max: 5 }),
      }),
      { maxLength: 6 },
    ),
    { minLength: 1, maxLength: 40 },
  )
  .map((cycles) => {
    const live = new LiveTrace({ window: { samples: 16 } });
    for (const [second, samples] of cycles.entries()) {
      const rows = samples.map(({ offset, task }) => ({ time: second + offset, name: `f${task}`, task }));
      live.profile(
        0,
        cycleOf(
          second,
          rows.sort((a, b) => a.time - b.time),
        ),
        (task) => ({
          prefix: PREFIXES[task % 3] ?? '',
          span: task % 2 === 0 ? ['Alice', 'read'] : ['Alice'],
        }),
      );
    }
    return { trace: live.snapshot(), total: cycles.flat().length };
  });

describe('the profile in a trace', () => {
  it('is a tree of functions with the lines of their own samples', () => {
    const file = { filename: '/a.ts' };
    assert.deepEqual(profileTree(recorded(), { key: 'load' }).children, {
      'load;/a.ts;3': {
        identifier: 'load;/a.ts;3',
        description: { name: 'load', ...file, lineNumber: 3 },
        count: 60,
        lines: { 4: 20 },
        children: {
          'parse;/a.ts;9': {
            identifier: 'parse;/a.ts;9',
            description: { name: 'parse', ...file, lineNumber: 9 },
            count: 40,
            lines: { 10: 20, 11: 20 },
            children: {},
          },
        },
      },
    });
  });

  it('has each sample once: in all, by prefix, and in windows that meet', () => {
    fc.assert(
      fc.property(TRACES, fc.double({ min: 0, max: 40, noNaN: true }), ({ trace, total }, cut) => {
        const count = (query: ProfileTreeOptions): number => profileTree(trace, query).count;
        assert.equal(count({}), total);
        assert.equal(
          PREFIXES.reduce((sum, key) => sum + count({ key }), 0),
          total,
        );
        assert.equal(count({ stop: cut }) + count({ start: cut }), total);
        assert.equal(count({ span: ['Alice'] }), total);
      }),
    );
  });

  it('selects samples by prefix, span, worker, time and task', () => {
    const trace = recorded();
    assert.equal(profileTree(trace).count, 80);
    assert.equal(profileTree(trace, { key: 'none' }).count, 0);
    assert.equal(profileTree(trace, { span: ['Alice'] }).count, 60);
    assert.equal(profileTree(trace, { span: ['Alice', 'load'] }).count, 60);
    assert.equal(profileTree(trace, { span: ['Ali'] }).count, 0);
    assert.equal(profileTree(trace, { span: [] }).count, 80);
    assert.equal(profileTree(trace, { all: true }).count, 100);
    assert.equal(profileTree(trace, { workers: ['threads-1'] }).count, 40);
    assert.equal(profileTree(trace, { workers: ['thread://1/0'], key: 'sum' }).count, 10);
    assert.equal(profileTree(trace, { scheduler: true }).count, 5);
    assert.equal(profileTree(trace, { start: 119, stop: 120 }).count, 4);
    assert.ok(profileTree(trace, { task: 1 }).count > 0);
  });

  it('has samples over time and by prefix', () => {
    const trace = recorded();
    const { seconds } = profileTimeline(trace, 10, { key: 'sum' });
    assert.ok(Math.abs(seconds.reduce((sum, each) => sum + each, 0) - 2) < 1e-9);
    assert.deepEqual(
      profiledPrefixes(trace).map(({ prefix, samples }) => [prefix, samples]),
      [
        ['load', 60],
        ['sum', 20],
      ],
    );
    assert.ok(Math.abs(samplingInterval(trace) - 0.1) < 1e-12);
  });

  it('is empty for a trace without samples', () => {
    const trace = new LiveTrace().snapshot();
    assert.deepEqual(profileTree(trace).children, {});
    assert.deepEqual([...profileTimeline(trace, 3).seconds], [0, 0, 0]);
    assert.deepEqual(profiledPrefixes(trace), []);
  });
});
