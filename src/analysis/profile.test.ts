import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ProfileHistory } from '../profile/profileHistory.js';
import { type ProfileCycle, STACK_IDLE, STACK_RUNTIME } from '../protocol/clusterObserver.js';
import { LiveTrace } from '../trace/live/liveTrace.js';
import { profiledPrefixes, profileTimeline, profileTree, samplingInterval } from './profile.js';

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
  const history = new ProfileHistory();
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
  for (let second = 0; second < 20; second++) {
    live.profile(second % 2, cycle(100 + second), kindOf);
    history.add(cycle(100 + second), kindOf);
  }
  live.profile(-1, cycle(200), () => undefined);
  return { trace: live.snapshot(), history };
}

describe('the profile in a trace', () => {
  it('is the same tree as that of the cluster', () => {
    const { trace, history } = recorded();
    for (const query of [{}, { key: 'load' }, { key: 'none' }, { span: ['Alice'] }, { span: ['Ali'] }])
      assert.deepEqual(profileTree(trace, query), history.profile(query), JSON.stringify(query));
    assert.equal(profileTree(trace).count, 80);
    assert.equal(profileTree(trace, { all: true }).count, 100);
    assert.equal(profileTree(trace, { workers: ['threads-1'] }).count, 40);
    assert.equal(profileTree(trace, { workers: ['thread://1/0'], key: 'sum' }).count, 10);
    assert.equal(profileTree(trace, { scheduler: true }).count, 5);
    assert.equal(profileTree(trace, { start: 119, stop: 120 }).count, 4);
    assert.ok(profileTree(trace, { task: 1 }).count > 0);
  });

  it('has samples over time and by prefix', () => {
    const { trace } = recorded();
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
