import assert from 'node:assert/strict';
import { it } from 'node:test';
import { GC_TIME } from '../../protocol/traceNames.js';
import { type SyntheticSpec, syntheticTrace } from '../../trace/syntheticTrace.test.support.js';
import { findings } from './findings.js';
import { codesOf } from './workloads.test.support.js';

/** Tasks of 0.5 s on a worker. The program stops for 8 s at 1.2 s, in the third task. */
const tasks = Array.from({ length: 10 }, (_, i) => {
  const at = (seconds: number): number => seconds + (seconds > 1.2 ? 8 : 0);
  return { key: `load-${i}`, submitted: 0, ready: 0, started: at(i / 2), stopped: at(i / 2 + 0.5) };
});

/** Ten samples per second, without those between two times. The figures are those of a worker. */
const samples = (
  from: number,
  to: number,
  figures = (_: number) => ({}),
): NonNullable<SyntheticSpec['resources']> =>
  Array.from({ length: 130 }, (_, i) => i / 10)
    .filter((time) => time <= from || time >= to)
    .flatMap((time) => [
      { time, figures: { cpu: 100 } },
      { time, worker: 'w0', figures: figures(time) },
    ]);

const collection = [{ worker: 'w0', action: 'gc', start: 1.1, stop: 9.3 }] as const;
const metrics = [{ time: 10, worker: 'w0', prefix: 'load', activity: 'gc', value: 8.2 }];

it('a stop of the program in a garbage collection is a stop, and no collection', () => {
  const [first, ...others] = findings(
    syntheticTrace({ tasks, intervals: collection, metrics, resources: samples(1.2, 9.2) }),
  );
  assert.deepEqual([first?.code, first?.seconds.toFixed(1)], ['stopped-program', '8.0']);
  assert.match(first?.title ?? '', /^The program did not run for 8 s: /);
  assert.deepEqual(others, []);
});

it('a long garbage collection, during which samples were taken, is no stop', () => {
  assert.deepEqual(
    codesOf({ tasks, intervals: collection, metrics, resources: samples(20, 20) })[0],
    'garbage-collection',
  );
});

it('a stop in a collection of a local scheduler, whose workers only count the seconds of collections, is no collection', () => {
  const collected = (time: number) => ({ [GC_TIME]: time > 9.25 ? 8.3 : 0.1 });
  assert.deepEqual(codesOf({ tasks, resources: samples(1.2, 9.2, collected) }), ['stopped-program']);
  assert.deepEqual(codesOf({ tasks, resources: samples(20, 20, collected) })[0], 'garbage-collection');
});

it('a time without samples between two computations is no stop', () => {
  const later = tasks.map((task, i) =>
    i < 3
      ? { ...task, started: i / 2, stopped: i / 2 + 0.5 }
      : { ...task, submitted: 9.2, ready: 9.2, computation: 2 },
  );
  assert.ok(!codesOf({ tasks: later, resources: samples(1.5, 9.5) }).includes('stopped-program'));
});
