import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from '../../base/properties.test.support.js';
import type { ProfileCycle } from '../../protocol/clusterObserver.js';
import { LiveTrace } from '../live/liveTrace.js';
import { cycleFrames, type SampleFacts } from './sampleRows.js';
import { SampleSums } from './sampleSums.js';

function cycle(start: number, functions: readonly string[]): ProfileCycle {
  const count = functions.length;
  return {
    thread: 'threads-0',
    start,
    stop: start + count * 0.01,
    interval: 0.01,
    parents: Int32Array.from(functions, () => -1),
    names: functions,
    files: functions.map(() => '/tasks.ts'),
    lines: new Int32Array(count).fill(3),
    times: Float64Array.from(functions, (_, sample) => start + sample * 0.01),
    stacks: Int32Array.from(functions, (_, sample) => sample),
    sampleLines: new Int32Array(count).fill(4),
    tasks: new Float64Array(count).fill(7),
  };
}

const sample = fc.record({
  time: fc.double({ min: 1000, max: 100_000, noNaN: true }),
  worker: fc.integer({ min: -1, max: 3 }),
  thread: fc.constant(0),
  task: fc.integer({ min: -1, max: 1000 }),
  prefix: fc.constantFrom('', 'load', 'sum', 'inc'),
  span: fc.constantFrom('', 'default', 'Alice/load'),
  frame: fc.integer({ min: -1, max: 40 }),
  line: fc.integer({ min: 0, max: 20 }),
  count: fc.integer({ min: 1, max: 5 }),
  interval: fc.constant(0.01),
}) satisfies fc.Arbitrary<SampleFacts>;

const total = (rows: readonly { readonly count: number }[]): number =>
  rows.reduce((sum, { count }) => sum + count, 0);

describe('samples in a trace', () => {
  it('sums of older samples keep the total and the mean time under any limit of rows', () => {
    fc.assert(
      fc.property(fc.array(sample, { maxLength: 300 }), fc.integer({ min: 20, max: 60 }), (rows, limit) => {
        const sums = new SampleSums(limit);
        for (const row of rows) sums.add(row);
        const left = sums.rows();
        assert.ok(left.length <= limit, `${left.length} rows`);
        assert.equal(total(left), total(rows));
        const moment = (list: readonly SampleFacts[]): number =>
          list.reduce((sum, { time, count }) => sum + time * count, 0);
        assert.ok(Math.abs(moment(left) - moment(rows)) <= 1e-6 * (1 + moment(rows)));
        assert.deepEqual(
          left.map(({ time }) => time),
          left.map(({ time }) => time).sort((a, b) => a - b),
        );
      }),
    );
  });

  it('sums of older samples lose times before prefixes, spans and stack frames', () => {
    const sums = new SampleSums(100);
    for (let second = 0; second < 10_000; second++)
      sums.add({
        time: 1000 + second,
        worker: 0,
        thread: 0,
        task: second,
        prefix: second % 4 === 0 ? 'load' : 'sum',
        span: second % 8 === 0 ? 'Alice' : 'Bob',
        frame: second % 40,
        line: second % 80,
        count: 1,
        interval: 0.01,
      });
    const left = sums.rows();
    assert.equal(total(left.filter(({ prefix }) => prefix === 'load')), 2500);
    assert.equal(total(left.filter(({ span }) => span === 'Alice')), 1250);
    assert.equal(total(left.filter(({ frame }) => frame === 7)), 250);
  });

  it('a live trace holds the newest samples as single rows and loses none', () => {
    const live = new LiveTrace({ window: { samples: 64 } });
    const kindOf = () => ({ prefix: 'load', span: ['Alice'] });
    for (let second = 0; second < 100; second++)
      live.profile(0, cycle(1000 + second, ['load', 'parse', 'load', 'sum']), kindOf);
    const { samples, evicted, strings, frames } = live.snapshot();
    assert.equal(
      samples.count.reduce((sum, count) => sum + count, 0),
      400,
    );
    assert.ok(samples.length < 400);
    assert.equal(evicted.samples, 0);
    assert.equal(samples.count.at(-1), 1);
    assert.equal(samples.time.at(-1), 1099.03);
    assert.equal(strings.get(frames.functionName[samples.frame[0]!]!), 'load');
    assert.equal(frames.length, 3);
    // A reader at the beginning receives the sums; later reads return new samples only.
    const whole = live.changesSince();
    assert.equal(
      whole.trace.samples.count.reduce((sum, count) => sum + count, 0),
      400,
    );
    assert.equal(whole.missed.samples, 0);
    live.profile(0, cycle(2000, ['load']), kindOf);
    assert.deepEqual([...live.changesSince(whole.cursor).trace.samples.time], [2000]);
    assert.ok(live.changesSince({ ...whole.cursor, samples: 8 }).missed.samples > 0);
  });

  it('ids of frames depend on the whole stack and on nothing else', () => {
    const stack = fc.array(fc.tuple(fc.string({ maxLength: 4 }), fc.string({ maxLength: 3 }), fc.nat(5)), {
      minLength: 1,
      maxLength: 5,
    });
    fc.assert(
      fc.property(stack, stack, (one, other) => {
        const idOf = (frames: typeof one): number =>
          cycleFrames({
            ...cycle(0, []),
            parents: Int32Array.from(frames, (_, at) => at - 1),
            names: frames.map(([name]) => name),
            files: frames.map(([, file]) => file),
            lines: Int32Array.from(frames, ([, , line]) => line),
          }).at(-1)!.id;
        assert.ok(Number.isSafeInteger(idOf(one)) && idOf(one) >= 0);
        assert.equal(idOf(one) === idOf(other), JSON.stringify(one) === JSON.stringify(other));
      }),
    );
  });
});
