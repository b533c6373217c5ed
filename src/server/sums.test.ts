import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TASK_ERRED, TASK_LOST, TASK_MEMORY } from '../protocol/clusterObserver.js';
import { OTHERS } from '../protocol/metrics.js';
import type { SumsMessage } from '../protocol/viewMessages.js';
import { totalsFromJson } from '../trace/recording/totalsJson.js';
import {
  DURATION_BOUNDS,
  DURATION_BUCKETS,
  durationHistogram,
  type PrefixTotals,
  TotalSums,
} from '../trace/totals.js';
import { liveSums, recordedSums } from './sums.js';

/** Prefix `p` with its number computes for that number of seconds. A run of the last prefix is lost. */
function totalsOf(prefixes: number): TotalSums {
  const totals = new TotalSums();
  for (let i = 1; i <= prefixes; i++) totals.prefix(`p${i}`).add(TASK_MEMORY, i, 8);
  totals.prefix(`p${prefixes}`).add(TASK_LOST, Number.NaN, 0);
  return totals;
}

/** Returns the prefixes as a page receives them. */
function prefixesOf({ totals }: SumsMessage): PrefixTotals[] {
  const received = totalsFromJson(JSON.parse(JSON.stringify(totals)));
  return [...(received?.prefixes.values() ?? [])];
}

const NO_DURATIONS = new Float64Array(DURATION_BUCKETS);

describe('the sums of a live trace', () => {
  it('have every prefix with an ended run', () => {
    const totals = totalsOf(500);
    totals.prefix('not yet');
    const prefixes = prefixesOf(liveSums(totals, 1));
    assert.equal(prefixes.length, 500);
    const last = {
      prefix: 'p500',
      count: 2,
      erred: 0,
      seconds: 500,
      nbytes: 8,
      shortest: 500,
      longest: 500,
      durations: NO_DURATIONS,
    };
    assert.deepEqual(prefixes[0], last);
  });

  it('list the 499 prefixes with the most seconds, and sum up the others', () => {
    const totals = totalsOf(1500);
    totals.prefix('0').add(TASK_LOST, Number.NaN, 0);
    totals.prefix(OTHERS).add(TASK_ERRED, 5000, 0);
    const prefixes = prefixesOf(liveSums(totals, 1));
    const listed = new Map(prefixes.map((sums) => [sums.prefix, sums]));
    assert.deepEqual([prefixes.length, listed.size], [500, 500]);
    assert.ok(Array.from({ length: 499 }, (_, i) => listed.has(`p${1500 - i}`)).every(Boolean));
    assert.deepEqual(listed.get(OTHERS), {
      prefix: OTHERS,
      count: 1001 + 2,
      erred: 1,
      seconds: (1001 * 1002) / 2 + 5000,
      nbytes: 1001 * 8,
      shortest: 1,
      longest: 5000,
      durations: NO_DURATIONS,
    });
  });

  it('list every prefix of a recorded trace, with its durations', () => {
    const prefixes = prefixesOf(recordedSums(totalsOf(1500).copy(1)));
    assert.equal(prefixes.length, 1500);
    assert.ok(prefixes.every(({ durations }) => durations.filter((runs) => runs > 0).length === 1));
  });
});

describe('the histogram of durations', () => {
  it('counts a run in the first bucket with a bound above its duration', () => {
    const inc = new TotalSums().prefix('inc');
    for (const seconds of [1e-9, 0.3, 0.49, 5000]) inc.add(TASK_MEMORY, seconds, 8);
    inc.add(TASK_LOST, Number.NaN, 0);
    const runs = durationHistogram(inc.durations);
    const half = DURATION_BOUNDS.indexOf(0.5);
    assert.deepEqual([runs[0], runs[half], runs[DURATION_BOUNDS.length]], [1, 2, 1]);
    assert.equal(
      runs.reduce((sum, count) => sum + count, 0),
      4,
    );
  });
});
