import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from '../../base/properties.test.support.js';
import { MetricLedger } from '../metrics/metricLedger.js';
import { contextMeter } from './contextMeter.js';
import { bench, clock, near, pass, total, useFakeClock } from './contextMeter.test.support.js';
import { meterContext } from './meterContext.js';
import { TaskMetering } from './taskMetering.js';

/** Time limit of tests that wait for a performance entry of Node. */
const LIMIT = { timeout: 300_000 };

beforeEach(useFakeClock);
afterEach(() => mock.restoreAll());

interface Step {
  readonly label: string;
  readonly block: boolean;
  readonly inner: readonly Step[];
}

function steps(depth: number): fc.Arbitrary<Step> {
  return fc.record({
    label: fc.constantFrom('I/O', 'parse', 'wait'),
    block: fc.boolean(),
    inner: depth === 0 ? fc.constant([]) : fc.array(steps(depth - 1), { maxLength: 3 }),
  });
}

function perform({ label, inner, block }: Step): void {
  const body = (): void => {
    pass(2e-6);
    inner.forEach(perform);
  };
  if (!block) {
    contextMeter.meter(label, body)();
    return;
  }
  using _meter = contextMeter.meter(label);
  body();
}

test('with any nesting of meters, the seconds of a task add up to its wall time', () => {
  fc.assert(
    fc.property(fc.array(steps(3), { maxLength: 4 }), (list) => {
      const fixture = bench();
      const kind = fixture.metering.kind('task');
      fixture.run(kind, () => list.forEach(perform));
      fixture.run(kind, () => pass(1e-6));
      const sums = fixture.sums('task');
      near(total(sums), fixture.wall);
      assert.ok(Object.values(sums).every((seconds) => seconds >= -1e-9));
    }),
    { numRuns: 50 },
  );
});

test('seconds add up to wall time exactly, and inner meters are subtracted from outer ones', () => {
  const fixture = bench();
  const kind = fixture.metering.kind('task');
  fixture.run(kind, () => {
    using _outer = contextMeter.meter('outer');
    pass(2e-3);
    contextMeter.meter('inner', () => pass(5e-3))();
  });
  fixture.run(kind, () => pass(1e-3));
  const sums = fixture.sums('task');
  near(fixture.wall, 8e-3);
  near(sums['inner'] ?? 0, 5e-3);
  near(sums['outer'] ?? 0, 2e-3);
  near(sums['thread-cpu'] ?? 0, 0.5e-3);
  near(sums['thread-noncpu'] ?? 0, 0.5e-3);
});

test('a short task shares its reading of the CPU clock, and the sum is exact', () => {
  let cpu = 0;
  const ledger = new MetricLedger();
  const metering = new TaskMetering(
    ledger,
    () => 0,
    () => cpu,
  );
  metering.close();
  const [a, b] = [metering.kind('a'), metering.kind('b')];
  for (const [kind, start] of [
    [a, 0],
    [b, 1e-5],
    [b, 2e-5],
  ] as const) {
    const task = metering.begin(kind, start);
    cpu += 5e-6;
    metering.end(task, kind, start, start + 1e-5);
  }
  metering.leave();
  near(ledger.get(['execute', 'default', 'a', 'thread-cpu', 'seconds']), 5e-6);
  near(ledger.get(['execute', 'default', 'b', 'thread-cpu', 'seconds']), 1e-5);
  near(ledger.get(['execute', 'default', 'b', 'thread-noncpu', 'seconds']), 1e-5);
});

test('without a CPU clock the time is not divided', () => {
  const fixture = bench(undefined);
  const plain = new TaskMetering(fixture.ledger, clock);
  plain.close();
  const kind = plain.kind('task', ['Alice', 'load']);
  const task = plain.begin(kind, 1);
  plain.end(task, kind, 1, 3);
  plain.leave();
  assert.deepEqual([...fixture.ledger], [[['execute', 'Alice/load', 'task', 'other', 'seconds'], 2]]);
});

test('concurrent asynchronous tasks are measured separately, and callbacks count for the task that started them', async () => {
  const fixture = bench();
  const opened: (() => void)[] = [];
  const gate = (): Promise<void> => new Promise((resolve) => opened.push(resolve));
  const task = async (label: string, turn: Promise<void>): Promise<void> => {
    using _meter = contextMeter.meter(label);
    await turn;
    await new Promise<void>((resolve) => setImmediate(resolve));
    contextMeter.digestMetric(label, 1, 'count');
    await new Promise<void>((resolve) => {
      setImmediate(() => {
        contextMeter.digestMetric('callback', 1, 'count');
        resolve();
      });
    });
  };
  const first = fixture.runAsync(fixture.metering.kind('first'), () => task('A', gate()));
  const second = fixture.runAsync(fixture.metering.kind('second'), () => task('B', gate()));
  opened[1]?.();
  await second;
  opened[0]?.();
  await first;
  assert.deepEqual(fixture.sums('first', 'count'), { A: 1, callback: 1 });
  assert.deepEqual(fixture.sums('second', 'count'), { B: 1, callback: 1 });
  assert.ok('A' in fixture.sums('first') && !('B' in fixture.sums('first')));
});

test('promises that one task awaits together do not count a second twice', async () => {
  const fixture = bench();
  const read = contextMeter.meter('I/O', () => new Promise<void>((resolve) => setImmediate(resolve)));
  await fixture.runAsync(fixture.metering.kind('task'), () => Promise.all([read(), read(), read()]));
  near(total(fixture.sums('task')), fixture.wall);
});

test('the time of a failed task counts as lost, and its other metrics count as usual', () => {
  const fixture = bench();
  const kind = fixture.metering.kind('task');
  const failing = (): void => {
    using _meter = contextMeter.meter('I/O');
    contextMeter.digestMetric('S3 Infrequent Access', 1000, 'bytes');
    pass(1e-4);
    throw new RangeError('no');
  };
  assert.throws(() => fixture.run(kind, failing), RangeError);
  assert.deepEqual(Object.keys(fixture.sums('task')), ['failed']);
  near(total(fixture.sums('task')), fixture.wall);
  assert.deepEqual(fixture.sums('task', 'bytes'), { 'S3 Infrequent Access': 1000 });
});

test('metrics of a promise that outlives its task count for the task, except seconds', async () => {
  const fixture = bench();
  const kind = fixture.metering.kind('task');
  const late = fixture.run(kind, () =>
    (async () => {
      using _meter = contextMeter.meter('I/O');
      await new Promise((resolve) => setImmediate(resolve));
      contextMeter.digestMetric('rows', 3, 'count');
    })(),
  );
  const before = total(fixture.sums('task'));
  await late;
  assert.equal(total(fixture.sums('task')), before);
  assert.deepEqual(fixture.sums('task', 'count'), { rows: 3 });
});

test('seconds that a task reports itself are subtracted from the enclosing meter', () => {
  const fixture = bench();
  fixture.run(fixture.metering.kind('task'), () => {
    using _meter = contextMeter.meter('I/O');
    pass(2e-3);
    contextMeter.digestMetric('disk', 1e-3, 'seconds');
  });
  const sums = fixture.sums('task');
  assert.equal(sums['disk'], 1e-3);
  near(total(sums), fixture.wall);
});

class Reader {
  readonly name = 'reader';

  @contextMeter.meter('I/O')
  read(count: number): string {
    contextMeter.digestMetric('rows', count, 'count');
    return `${this.name} ${count}`;
  }
}

test('a meter decorates a method, also in the older form of decorators', () => {
  const fixture = bench();
  const legacy = { value: () => pass(1e-6), writable: true };
  const decorated = contextMeter.meter('old')({}, 'method', legacy);
  fixture.run(fixture.metering.kind('task'), () => {
    assert.equal(new Reader().read(2), 'reader 2');
    decorated.value();
  });
  assert.deepEqual(fixture.sums('task', 'count'), { rows: 2 });
  assert.ok('I/O' in fixture.sums('task') && 'old' in fixture.sums('task'));
});

test('outside a task a meter counts nothing and does not fail', async () => {
  using _meter = contextMeter.meter('I/O');
  contextMeter.digestMetric('rows', 1, 'count');
  assert.equal(new Reader().read(1), 'reader 1');
  const double = contextMeter.meter('I/O', async (value: number) => 2 * value);
  assert.equal(await double(4), 8);
  assert.equal(meterContext.getStore(), undefined);
});

test('invalid labels, functions, values and units are refused', () => {
  const refused = { code: 'ERR_LONGPOLE_INVALID_ARGUMENT' };
  assert.throws(() => contextMeter.meter(''), refused);
  assert.throws(() => contextMeter.digestMetric('rows', Number.NaN, 'count'), refused);
  assert.throws(() => contextMeter.digestMetric('rows', 1, ''), refused);
  assert.throws(() => Reflect.apply(contextMeter.meter, undefined, ['I/O', 3]), refused);
});

/**
 * Runs a task that collects garbage. Returns its seconds, and, once Node has reported the collection, the seconds counted
 * for it. Reports of collections before and after the task, which may also happen, do not end the wait.
 */
async function collectingTask(time: () => number, ended: () => void = () => undefined) {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  assert.ok(typeof collect === 'function');
  const ledger = new MetricLedger();
  const metering = new TaskMetering(ledger, time);
  const kind = metering.kind('task');
  const start = time();
  const task = metering.begin(kind, start);
  collect();
  const stop = time();
  metering.end(task, kind, start, stop);
  metering.leave();
  ended();
  const seconds = (activity: string) => ledger.get(['execute', 'default', 'task', activity, 'seconds']);
  while (seconds('gc') === 0) await new Promise((resolve) => setImmediate(resolve));
  metering.close();
  return { wall: stop - start, gc: seconds('gc'), other: seconds('other') };
}

test('a garbage collection inside a task moves from its time to gc', LIMIT, async () => {
  // Node measures collections with its own clock, so this test uses no fake clock.
  mock.restoreAll();
  const { wall, gc, other } = await collectingTask(clock);
  assert.ok(gc > 0);
  near(gc + other, wall);
});

test(
  'a garbage collection counts for its task even if the thread is preempted when Node reports it',
  LIMIT,
  async () => {
    mock.restoreAll();
    const real = performance.now.bind(performance);
    let lostMs = 0;
    let isSlow = false;
    mock.method(performance, 'now', () => real() + lostMs);
    const time = (): number => {
      const now = clock();
      // The thread has no core for 50 ms after this reading.
      if (isSlow) lostMs += 50;
      return now;
    };
    const { gc } = await collectingTask(time, () => {
      isSlow = true;
    });
    assert.ok(gc > 0);
  },
);

test('a metered function returns an instance of its subclass of Promise', async () => {
  class Query extends Promise<number> {}
  const fixture = bench();
  const metered = contextMeter.meter('I/O', () => Query.resolve(2));
  await fixture.runAsync(fixture.metering.kind('task'), async () => {
    const query = metered();
    assert.ok(query instanceof Query);
    assert.equal(await query, 2);
  });
  assert.ok('I/O' in fixture.sums('task'));
});
