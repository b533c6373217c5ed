import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from '../base/properties.test.support.js';
import { OfferedTime } from './offeredTime.js';

describe('offered thread time', () => {
  it('counts every moment with an unfinished task once, for each connected thread', () => {
    const period = fc.record({ start: fc.nat(40), length: fc.nat(15) });
    const change = fc.record({ time: fc.nat(40), threads: fc.integer({ min: 1, max: 4 }) });
    fc.assert(
      fc.property(fc.array(period), fc.array(change, { maxLength: 4 }), (periods, changes) => {
        const offered = new OfferedTime();
        const ordered = changes.toSorted((a, b) => a.time - b.time);
        for (const { time, threads } of ordered) offered.changeThreads(time, threads);
        for (const { start, length } of periods) offered.add(start, start + length);
        let expected = 0;
        for (let second = 0; second < 60; second++) {
          if (!periods.some(({ start, length }) => start <= second && second < start + length)) continue;
          for (const { time, threads } of changes) if (time <= second) expected += threads;
        }
        assert.equal(offered.seconds, expected);
      }),
    );
  });

  it('stays exact over more periods than it keeps, and ignores unknown times', () => {
    const offered = new OfferedTime();
    offered.changeThreads(0, 2);
    offered.changeThreads(Number.NaN, 8);
    for (let second = 0; second < 30_000; second++) offered.add(second, second + 0.5);
    offered.add(Number.NaN, 40_000);
    offered.add(5, Number.NaN);
    assert.equal(offered.seconds, 30_000);
  });
});
